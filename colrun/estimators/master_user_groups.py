"""Master-User with arbitrary groups of parameters (section 3 of the paper), on any network, by default random groups.

Every weight belongs to the group of one state and tracks its influence on that state only; the recursions are those of
master_user.py. Without columns no single backward pass gives all ∂h_i(t)/∂θ_i, so there is one backward pass per state.

    credit     λ_i(t) as in master_user.py;  ĝ(θ_p) = Σ_t λ_i(t) ∂h_i(t)/∂θ_p for p in group i

Cost: O(|h||θ|) operations and O(|θ|) memory per step.
Reference: Javed, White and Sutton 2021.
"""

from collections.abc import Sequence as Several

import torch
from torch import Tensor

from colrun.estimators.base import Estimator, Online, predict
from colrun.estimators.master_user import Traces, own_credit
from colrun.networks.base import Gradients, Network
from colrun.networks.trajectory import Trajectory
from colrun.testbed import Sequence, stream


def random_owner(network: Network) -> dict[str, Tensor]:
    """A random state for every weight, from a stream of its own per tensor."""
    return {
        name: torch.from_numpy(stream(network.seed, f"groups.{name}").integers(0, network.columns, tuple(value.shape)))
        for name, value in network.theta.items()
    }


class OnlinePerState(Traces):
    """Any groups, one backward pass for each number of state."""

    def local(self, s_t: Tensor, s_tm1: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        """The passes one after another; of each, the group's part is kept."""
        S, C = s_t.shape
        wanted = [*self.theta.values(), s_tm1]
        local = {name: value.new_zeros(S, *value.shape) for name, value in self.network.theta.items()}
        d = s_t.new_zeros(S, S, C)
        for k in range(S):
            for i in range(C):
                *grads, by_s = torch.autograd.grad(s_t[k, i], wanted, retain_graph=True, materialize_grads=True)
                d[k, :, i] = by_s[:, i]
                for (name, owner), grad in zip(self.owner.items(), grads, strict=True):
                    local[name][k] += torch.where(owner == i, grad, 0.0)
        return local, d


def group_gradients(
    network: Network, sequence: Sequence, step_size: float | None, owner: dict[str, Tensor]
) -> Gradients:
    """The credit form on one network of any kind: all steps in one graph, and one backward pass per state."""
    s, w = [network.zero_state()], [network.w]
    deltas = []
    for x_t, y_t in zip(sequence.x, sequence.y, strict=True):
        s.append(network.step(network.theta, x_t, s[-1]))
        _, delta, w_tp1 = predict(w[-1], s[-1][0], y_t, step_size)
        w.append(w_tp1)
        deltas.append(delta)
    theta = {name: value.detach().clone().requires_grad_() for name, value in network.theta.items()}
    s_tm1 = torch.stack(s[:-1]).requires_grad_()
    s_t = network.step(theta, sequence.x, s_tm1)  # (T, S, C): each step from its own, detached, state
    T, S, C = s_t.shape
    d = s_t.new_zeros(T, S, S, C)
    for k in range(S):
        for i in range(C):
            (by_s,) = torch.autograd.grad(s_t[:, k, i].sum(), s_tm1, retain_graph=True, materialize_grads=True)
            d[:, k, :, i] = by_s[:, :, i]
    h = s_t.detach()[:, 0]
    credit = own_credit(h[None], torch.stack(w[:-1])[None], torch.stack(deltas)[None], d[None], step_size)[0]
    gradients = {name: torch.zeros_like(value) for name, value in network.theta.items()}
    for i in range(C):
        weighted = (credit[:, :, i] * s_t[:, :, i]).sum()
        grads = torch.autograd.grad(weighted, list(theta.values()), retain_graph=True, materialize_grads=True)
        for name, grad in zip(theta, grads, strict=True):
            gradients[name] += torch.where(owner[name] == i, grad, 0.0)
    return gradients


class MasterUserGroups(Estimator):
    """Random groups."""

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """Traces by random group."""
        return OnlinePerState(network, step_size, random_owner(network))

    def gradients_of(self, network: Network, sequence: Sequence, step_size: float | None) -> Gradients:
        """Groups need no columns."""
        return group_gradients(network, sequence, step_size, random_owner(network))

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """Network by network: the groups differ, and so do the backward passes."""
        batch = trajectory.batch
        networks = [batch.network(n) for n in range(len(batch.seeds))]
        each = [
            self.gradients_of(network, Sequence(x, y), trajectory.step_size)
            for network, x, y in zip(networks, batch.layers.x, batch.layers.y, strict=True)
        ]
        stacked = {name: torch.stack([gradients[name] for gradients in each]) for name in each[0]}
        return [stacked] * len(windows)


ESTIMATORS = {"master-user-groups": MasterUserGroups()}
