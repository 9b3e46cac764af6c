"""Gradients on any network that offers θ, a state and one differentiable step: several networks of one shape at once.

The fast engine knows columns only. What runs here is exact autograd, batched over networks by torch.func.vmap: the
truth (bptt), and Master-User with random groups, whose credit needs ∂s_i(t)/∂s_i(t-1) of every step (master_user.py).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import vmap

from colrun.engine.metrics import Metrics, compare, complete
from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName
from colrun.estimators.master_user import own_credit
from colrun.estimators.master_user_groups import random_owner
from colrun.networks.base import Gradients, Network
from colrun.readout import Readout, predict
from colrun.testbed import Sequence

TRUTH = EstimatorName("bptt")


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
        self.theta = _stacked([network.theta for network in networks])
        self.x = torch.stack([sequence.x for sequence in sequences])
        self.y = torch.stack([sequence.y for sequence in sequences])
        self.step: Callable[..., Tensor] = vmap(networks[0].step)
        """s(t), (N, S, C), from θ, x(t) and s(t-1), all (N, …)."""
        self.steps: Callable[..., Tensor] = vmap(vmap(networks[0].step, in_dims=(None, 0, 0)))
        """The same for many steps at once, (N, T, …)."""

    def run(self, theta: Gradients) -> Course:
        """All steps, with their graph where `theta` has one."""
        s_t = torch.stack([network.initial_state() for network in self.networks])
        w_t = torch.stack([Readout(network).start() for network in self.networks])
        s, w, deltas = [s_t], [], []
        for t in range(self.x.shape[1]):
            s_t = self.step(theta, self.x[:, t], s_t)
            s.append(s_t)
            w.append(w_t)
            _, delta, _, w_t = predict(w_t, s_t[:, 0], self.y[:, t], self.step_size)
            deltas.append(delta)
        return Course(torch.stack(s, dim=1), torch.stack(w, dim=1), torch.stack(deltas, dim=1))

    def bptt(self) -> Gradients:
        """One backward pass for all networks: no weight of one enters a loss of another."""
        theta = _leaves(self.theta)
        loss = 0.5 * self.run(theta).delta.square().sum()
        grads = torch.autograd.grad(loss, list(theta.values()), materialize_grads=True)
        return dict(zip(theta, grads, strict=True))

    def groups(self) -> Gradients:
        """All steps of all networks in one graph, each from its own, detached, state; one backward pass per state."""
        owner = _stacked([random_owner(network) for network in self.networks])
        course, theta = self.run(self.theta), _leaves(self.theta)
        s_tm1 = course.s[:, :-1].detach().requires_grad_()
        s_t = self.steps(theta, self.x, s_tm1)
        N, T, S, C = s_t.shape
        d = s_t.new_zeros(N, T, S, S, C)
        for k in range(S):
            for i in range(C):
                (by_s,) = torch.autograd.grad(s_t[..., k, i].sum(), s_tm1, retain_graph=True, materialize_grads=True)
                d[:, :, k, :, i] = by_s[..., i]
        credit = own_credit(course.s[:, 1:, 0], course.w, course.delta, d, self.step_size)
        total = {name: torch.zeros_like(value) for name, value in self.theta.items()}
        for i in range(C):
            weighted = (credit[..., i] * s_t[..., i]).sum()
            grads = torch.autograd.grad(weighted, list(theta.values()), retain_graph=True, materialize_grads=True)
            for name, grad in zip(theta, grads, strict=True):
                total[name] += torch.where(owner[name] == i, grad, 0.0)
        return total


def gradients(
    networks: list[Network], sequences: list[Sequence], name: EstimatorName, step_size: float | None
) -> Gradients:
    """(N, …) by name."""
    known = {"bptt": Together.bptt, "rtrl": Together.bptt, "master-user-groups": Together.groups}
    if name.family not in known:
        raise InvalidValueError(
            f'the credit form of {name} needs a columnar network; use form="online" for a dense one.'
        )
    return known[name.family](Together(networks, sequences, step_size))


def measure(
    networks: list[Network], sequences: list[Sequence], names: list[EstimatorName], step_size: float | None = None
) -> dict[EstimatorName, Metrics]:
    """As engine.measure: the metrics (N,) of every estimator against bptt, with `max_error` and `diverged`."""
    found = {name: gradients(networks, sequences, name, step_size) for name in dict.fromkeys([TRUTH, *names])}
    arrays = {name: {key: value.numpy() for key, value in each.items()} for name, each in found.items()}
    masks = {key: value.numpy() for key, value in _stacked([network.masks for network in networks]).items()}
    together = Together(networks, sequences, step_size)
    max_error = together.run(together.theta).delta.abs().amax(dim=1).double().numpy()
    judged = {name: compare(arrays[TRUTH], arrays[name], masks) for name in names}
    return {name: complete(metrics, max_error) for name, metrics in judged.items()}


def _stacked(each: list[Gradients]) -> Gradients:
    return {name: torch.stack([values[name] for values in each]) for name in each[0]}


def _leaves(theta: Gradients) -> Gradients:
    return {name: value.detach().requires_grad_() for name, value in theta.items()}
