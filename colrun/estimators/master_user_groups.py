"""Master-User with arbitrary groups of parameters (section 3 of the paper), on any network, by default random groups.

Every weight belongs to the group of one state and tracks its influence on that state only; the recursions are those of
master_user.py. Without columns no single backward pass gives all ∂h_i(t)/∂θ_i, so there is one backward pass per state.
Own networks may have states that the readout does not see: the weights of their groups have no credit.

    credit     λ_i(t) as in master_user.py;  ĝ(θ_p) = Σ_t λ_i(t) ∂h_i(t)/∂θ_p for p in group i

Cost: O(|h||θ|) operations and O(|θ|) memory per step.
Reference: Javed, White and Sutton 2021.
"""

from collections.abc import Sequence as Several

import torch
from torch import Tensor

from colrun.estimators.base import Estimator
from colrun.estimators.master_user import OnlineTraces, TraceMemory, begin, own_credit
from colrun.estimators.online import zeros
from colrun.estimators.theory import Power
from colrun.networks.base import Gradients, Network, Theta
from colrun.networks.contraction import contract, spread
from colrun.networks.dense import DenseBatch, stack_named
from colrun.networks.listed import ListedNetwork
from colrun.networks.trajectory import Trajectory
from colrun.readout import Readout
from colrun.streams import stream


def random_owner(network: Network) -> dict[str, Tensor]:
    """A random state for every weight, from a stream of its own per tensor."""
    if isinstance(network, ListedNetwork):
        return network.listed(random_owner(network.whole))
    columns = network.initial_state().shape[-1]
    return {
        name: torch.from_numpy(stream(network.seed, f"groups.{name}").integers(0, columns, tuple(value.shape)))
        for name, value in network.theta.items()
    }


class OnlineGroups(OnlineTraces[TraceMemory]):
    """Random groups, one backward pass for each number of state."""

    def start(self, readout: Readout) -> TraceMemory:
        return begin(readout, random_owner(readout.network))

    def local(self, memory: TraceMemory, theta: Theta, x_t: Tensor) -> tuple[Tensor, Theta, Tensor]:
        s_tm1 = memory.s.detach().requires_grad_()
        s_t = memory.readout.network.step(theta, x_t, s_tm1)
        return s_t.detach(), *within_groups(theta, memory.owner, s_t, s_tm1)


def within_groups(theta: Theta, owner: dict[str, Tensor], s_t: Tensor, s_tm1: Tensor) -> tuple[Theta, Tensor]:
    """The passes one after another; of each, the group's part is kept."""
    S, C = s_t.shape
    wanted = [*theta.values(), s_tm1]
    local = zeros(theta, S)
    d = s_t.new_zeros(S, S, C)
    for k in range(S):
        for i in range(C):
            *grads, by_s = torch.autograd.grad(s_t[k, i], wanted, retain_graph=True, materialize_grads=True)
            d[k, :, i] = by_s[:, i]
            for name, grad in zip(theta, grads, strict=True):
                local[name][k] += torch.where(owner[name] == i, grad, 0.0)
    return local, d


class MasterUserGroups(Estimator):
    """Random groups."""

    takes_lists = True
    operations = Power(parameters=1, states=1)
    memory = Power(parameters=1)

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """State after state, all networks at once: the gradient of its credit alone, of which its group's is kept."""
        batch = trajectory.batch
        owners = [random_owner(batch.network(n)) for n in range(len(batch.seeds))]
        owner = {name: torch.stack([each[name] for each in owners]) for name in owners[0]}
        d = trajectory.own_jacobian
        credit = own_credit(trajectory.h, trajectory.w, trajectory.delta, d, trajectory.step_size)
        total = {name: torch.zeros_like(mask, dtype=credit.dtype) for name, mask in batch.masks.items()}
        for i in range(batch.architecture.columns):
            alone = torch.zeros_like(credit)
            alone[..., i] = credit[..., i]
            for name, gradient in contract(trajectory, spread(trajectory, alone, crosses=True)).items():
                total[name] += gradient.masked_fill_(owner[name] != i, 0.0)
        return [total] * len(windows)

    def dense_gradients(self, batch: DenseBatch, step_size: float | None) -> Gradients:
        """All steps of all networks in one graph, each from its own, detached, state; one backward pass per state."""
        owner = stack_named([random_owner(network) for network in batch.networks])
        course = batch.run(batch.theta, step_size)
        theta = {name: value.detach().requires_grad_() for name, value in batch.theta.items()}
        s_tm1 = course.s[:, :-1].detach().requires_grad_()
        s_t = batch.step(theta, batch.x, s_tm1)
        N, T, S, C = s_t.shape
        d = s_t.new_zeros(N, T, S, S, C)
        for k in range(S):
            for i in range(C):
                (by_s,) = torch.autograd.grad(s_t[..., k, i].sum(), s_tm1, retain_graph=True, materialize_grads=True)
                d[:, :, k, :, i] = by_s[..., i]
        credit = own_credit(course.s[:, 1:, 0], course.w, course.delta, d, step_size)
        total = {name: torch.zeros_like(value) for name, value in batch.theta.items()}
        for i in range(C):
            weighted = (credit[..., i] * s_t[..., i]).sum()
            grads = torch.autograd.grad(weighted, list(theta.values()), retain_graph=True, materialize_grads=True)
            for name, grad in zip(theta, grads, strict=True):
                total[name] += torch.where(owner[name] == i, grad, 0.0)
        return batch.as_named(total.values())


ONLINE = {"master-user-groups": OnlineGroups}
ESTIMATORS = {"master-user-groups": MasterUserGroups()}
