"""Master-User with arbitrary groups of parameters (section 3 of the paper), on any network, by default random groups.

Every weight belongs to the group of one state and tracks its influence on that state only; the recursions are those of
master_user.py. Without columns no single backward pass gives all ∂h_i(t)/∂θ_i, so there is one backward pass per state.

    credit     λ_i(t) as in master_user.py;  ĝ(θ_p) = Σ_t λ_i(t) ∂h_i(t)/∂θ_p for p in group i

Cost: O(|h||θ|) operations and O(|θ|) memory per step.
Reference: Javed, White and Sutton 2021.
"""

import torch
from torch import Tensor

from colrun.estimators.base import Estimator, Online
from colrun.estimators.master_user import Traces
from colrun.estimators.theory import Power
from colrun.networks.base import Network
from colrun.networks.listed import ListedNetwork
from colrun.streams import stream


def random_owner(network: Network) -> dict[str, Tensor]:
    """A random state for every weight, from a stream of its own per tensor."""
    if isinstance(network, ListedNetwork):
        return network.listed(random_owner(network.whole))
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


class MasterUserGroups(Estimator):
    """Random groups."""

    takes_lists = True
    operations = Power(parameters=1, states=1)
    memory = Power(parameters=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """Traces by random group."""
        return OnlinePerState(network, step_size, random_owner(network))


ESTIMATORS = {"master-user-groups": MasterUserGroups()}
