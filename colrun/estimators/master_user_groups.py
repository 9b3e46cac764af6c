"""Master-User with arbitrary groups of parameters (section 3 of the paper), on any network, by default random groups.

Every weight belongs to the group of one state and tracks its influence on that state only; the recursions are those of
master_user.py. Without columns no single backward pass gives all ∂h_i(t)/∂θ_i, so there is one backward pass per state.
Own networks may have states that the readout does not see: the weights of their groups have no credit.

    credit     λ_i(t) as in master_user.py;  ĝ(θ_p) = Σ_t λ_i(t) ∂h_i(t)/∂θ_p for p in group i

Cost: O(|h||θ|) operations and O(|θ|) memory per step.
Reference: Javed, White and Sutton 2021.
"""

import torch
from torch import Tensor

from colrun.estimators.master_user import OnlineTraces, TraceMemory, begin
from colrun.estimators.online import zeros
from colrun.networks.base import Network, Theta
from colrun.networks.listed import ListedNetwork
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


ONLINE = {"master-user-groups": OnlineGroups}
