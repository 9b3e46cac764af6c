"""Unbiased online recurrent optimization: ∂s(t)/∂θ as one random product of two vectors.

    s̃(t) = ρ0 J(t) s̃(t-1) + ρ1 ν(t)                         ν: fair signs, one per state
    θ̃(t) = θ̃(t-1)/ρ0 + ν(t)ᵀ ∂s(t)/∂θ / ρ1
    ρ0   = √(‖θ̃(t-1)‖ / ‖J(t) s̃(t-1)‖)        ρ1 = √(‖ν(t)ᵀ ∂s(t)/∂θ‖ / ‖ν(t)‖)
    ĝ(t) = (∂L(t)/∂s(t-1) · s̃(t-1)) θ̃(t-1) + ∂L(t)/∂θ

As in the paper's algorithm, what θ does to L(t) at step t itself is exact. There is no ε in ρ: see `balance`. Where w
learns the state is (s, w): see stochastic.py. ν is over s alone, as θ enters w at the next step only.

    credit     c(t) = e(t) + ν(t) κ(t)/ρ1(t),   e = ∂L(t)/∂s(t),   crosses columns
               κ(t) = ∂L(t+1)/∂s(t) · s̃(t) + κ(t+1)/ρ0(t+1)

Cost: O(|θ|) operations and memory per step: two backward passes, and for J s̃ two that do not reach θ.
Reference: Tallec and Ollivier 2017.
"""

from torch import Tensor

from colrun.estimators.base import Online
from colrun.estimators.rank_one import OnlineRankOne, norm
from colrun.estimators.stochastic import Signs, Stochastic, balance
from colrun.estimators.theory import Power
from colrun.networks.base import Network


class OnlineUORO(OnlineRankOne):
    """One scale for the noise of all states."""

    def update(
        self,
        x_t: Tensor,  # noqa: ARG002
        s_tm1: Tensor,  # noqa: ARG002
        s_t: Tensor,
        moved: Tensor,
        on_loss: tuple[Tensor, Tensor],
    ) -> None:
        """The loss first: it sees the pair of the step before."""
        self.add(self.along(moved, on_loss))
        self.backward([s_t[0]], [on_loss[0]], [])
        nu = self.signs.take(*s_t.shape).to(s_t.dtype)
        local = self.weighted(s_t, nu)
        rho, inverse = balance(norm(local), nu.square().sum().sqrt())
        self.take_in(moved, rho * nu, {name: inverse * value for name, value in local.items()})


class UORO(Stochastic):
    """One scale for the noise of all states."""

    name = "uoro"
    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(parameters=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """One pair of vectors."""
        return OnlineUORO(network, step_size, Signs(network.seed, self.name, self.draw))


ESTIMATORS = {"uoro": UORO()}
