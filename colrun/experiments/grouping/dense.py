"""Gradients on any network that offers θ, a state and one differentiable step: several networks of one shape at once.

The fast engine knows columns only. What runs here is exact autograd, batched over networks by torch.func.vmap: the
truth (bptt), and Master-User with random groups, whose credit needs ∂s_i(t)/∂s_i(t-1) of every step (master_user.py).
"""

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import vmap

from colrun.engine.metrics import Metrics, compare, complete
from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName, get_online
from colrun.estimators.master_user import own_credit
from colrun.estimators.master_user_groups import random_owner
from colrun.networks.base import Gradients, Network
from colrun.readout import Readout, predict
from colrun.streams import Array
from colrun.testbed import Sequence


class Course(NamedTuple):
    """What happened to N networks over T steps."""

    s: Tensor
    """(N, T+1, S, C)"""
    w: Tensor
    """(N, T, C): w before the update of that step."""
    delta: Tensor
    """(N, T)"""


class Together:
    """Networks of one shape with the sequences they are shown."""

    def __init__(self, networks: list[Network], sequences: list[Sequence], step_size: float | None) -> None:
        self.networks, self.step_size = networks, step_size
        stacked = _stacked([network.theta for network in networks])
        self.theta = {name: value.detach().requires_grad_() for name, value in stacked.items()}
        self.x = torch.stack([sequence.x for sequence in sequences])
        self.y = torch.stack([sequence.y for sequence in sequences])

    @cached_property
    def course(self) -> Course:
        """All steps, with their graph."""
        step = vmap(self.networks[0].step)
        s_t = torch.stack([network.initial_state() for network in self.networks])
        w_t = torch.stack([Readout(network).start() for network in self.networks])
        s, w, deltas = [s_t], [], []
        for t in range(self.x.shape[1]):
            s_t = step(self.theta, self.x[:, t], s_t)
            s.append(s_t)
            w.append(w_t)
            _, delta, _, w_t = predict(w_t, s_t[:, 0], self.y[:, t], self.step_size)
            deltas.append(delta)
        return Course(torch.stack(s, dim=1), torch.stack(w, dim=1), torch.stack(deltas, dim=1))

    @cached_property
    def bptt(self) -> Gradients:
        """One backward pass for all networks: no weight of one enters a loss of another."""
        loss = 0.5 * self.course.delta.square().sum()
        return self._gradients(loss, retain_graph=False)

    @cached_property
    def groups(self) -> Gradients:
        """All steps of all networks in one graph, each from its own, detached, state; one backward pass per state."""
        owners = _stacked([random_owner(network) for network in self.networks])
        owner = {name: value.to(torch.int32) for name, value in owners.items()}  # which compare faster
        s, w, delta = (each.detach() for each in self.course)
        s_tm1 = s[:, :-1].clone().requires_grad_()
        s_t = vmap(vmap(self.networks[0].step, in_dims=(None, 0, 0)))(self.theta, self.x, s_tm1)
        N, T, S, C = s_t.shape
        d = s_t.new_zeros(N, T, S, S, C)
        for k in range(S):
            for i in range(C):
                (by_s,) = torch.autograd.grad(s_t[..., k, i].sum(), s_tm1, retain_graph=True, materialize_grads=True)
                d[:, :, k, :, i] = by_s[..., i]
        credit = own_credit(s[:, 1:, 0], w, delta, d, self.step_size)
        total = {name: torch.zeros_like(value, requires_grad=False) for name, value in self.theta.items()}
        for i in range(C):
            for name, grad in self._gradients((credit[..., i] * s_t[..., i]).sum()).items():
                total[name] = torch.where(owner[name] == i, grad, total[name])
        return total

    def _gradients(self, of: Tensor, retain_graph: bool = True) -> Gradients:
        wanted = list(self.theta.values())
        grads = torch.autograd.grad(of, wanted, retain_graph=retain_graph, materialize_grads=True)
        return dict(zip(self.theta, grads, strict=True))

    def gradients(self, name: EstimatorName) -> Gradients:
        """(N, …) by name."""
        if name.family in ("bptt", "rtrl"):
            return self.bptt
        if name.family == "master-user-groups":
            return self.groups
        why = "no columns" if get_online(name).needs_columns else "no fast form"
        raise InvalidValueError(f"a dense network has {why}, which {name} needs; use master-user-groups.")


def measure(
    networks: list[Network], sequences: list[Sequence], names: list[EstimatorName], step_size: float | None = None
) -> dict[EstimatorName, Metrics]:
    """As engine/measure.py: the metrics (N,) of every estimator against bptt, with `max_error` and `diverged`."""
    together = Together(networks, sequences, step_size)
    truth, masks = _arrays(together.bptt), _arrays(_stacked([network.masks for network in networks]))
    max_error = together.course.delta.detach().abs().amax(dim=1).double().numpy()
    found = {name: compare(truth, _arrays(together.gradients(name)), masks) for name in names}
    return {name: complete(metrics, max_error) for name, metrics in found.items()}


def _arrays(tensors: Gradients) -> dict[str, Array]:
    return {name: value.numpy() for name, value in tensors.items()}


def _stacked(each: list[Gradients]) -> Gradients:
    return {name: torch.stack([values[name] for values in each]) for name in each[0]}
