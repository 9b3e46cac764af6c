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

from colrun.estimators.rank_one import Here, OnlineRankOne, PairMemory, norm
from colrun.estimators.stochastic import balance
from colrun.networks.base import Gradients


class OnlineUORO(OnlineRankOne):
    """One scale for the noise of all states."""

    def take(self, memory: PairMemory, here: Here, counted: bool) -> tuple[PairMemory, Gradients]:
        """The loss first: it sees the pair of the step before."""
        gradient: Gradients = {}
        if counted:
            scale, own = here.along(here.moved, memory.w_tilde), here.weighted(here.on_loss[0])
            gradient = {name: scale * value + own[name] for name, value in memory.theta_tilde.items()}
            for name, value in here.direct.items():
                gradient[name] = gradient[name] + value
        nu = memory.signs.take(*here.s_t.shape).to(here.s_t.dtype)
        local = here.weighted(nu)
        rho, inverse = balance(norm(local), nu.square().sum().sqrt())
        scaled = {name: inverse * value for name, value in local.items()}
        return memory.take_in(here.moved, rho * nu, scaled), gradient


ONLINE = {"uoro": OnlineUORO}
