"""NoBackTrack: ∂s(t)/∂θ as one random product of two vectors, with a scale for every state.

    v(t) = ρ0 J(t) v(t-1) + Σ_i ρ_i ε_i(t) e_i                ε: fair signs, e_i: the unit vector of state i
    θ̃(t) = θ̃(t-1)/ρ0 + Σ_i ε_i(t) ∂s_i(t)/∂θ / ρ_i
    ρ0   = √(‖θ̃(t-1)‖ / ‖J(t) v(t-1)‖)        ρ_i = √‖∂s_i(t)/∂θ_i‖
    ĝ(t) = (∂L(t)/∂s(t) · v(t)) θ̃(t)

Any ρ_i above 0 leaves it unbiased; the paper takes the norm of ∂s_i/∂θ, which is cheap where every weight feeds one
unit alone. In a columnar network a column's features reach other states too, and the norms would take one backward pass
per state. So the norm is over θ_i, the weights of the state's own column: one pass with stopped gradients gives them
all (section 4.1 of Javed et al.), and without lateral connections it is the paper's. Where it is 0 no weight moves the
state, for a lateral feature would come with its own weight U_ij: there is nothing to add. Where w learns the state is
(s, w): see stochastic.py.

    credit     c_i(t) = ε_i(t) κ(t)/ρ_i(t),   crosses columns
               κ(t) = ∂L(t)/∂s(t) · v(t) + κ(t+1)/ρ0(t+1)

Cost: O(|θ|) operations and memory per step: two backward passes (LSTM: three), and for J v two that do not reach θ.
Reference: Ollivier, Tallec and Charpiat 2015. Its Kalman filter belongs to the learner, not to the gradient.
"""

import torch
from torch import Tensor

from colrun.estimators.rank_one import Here, OnlineRankOne, PairMemory
from colrun.estimators.stochastic import balance
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork


class OnlineNoBackTrack(OnlineRankOne):
    """A scale for the noise of each state."""

    needs_columns = True

    def take(self, memory: PairMemory, here: Here, counted: bool) -> tuple[PairMemory, Gradients]:
        """The pair first: the loss sees the noise of its own step."""
        rho, inverse = scales(self.own_norms(memory, here))
        epsilon = memory.signs.take(*here.s_t.shape).to(here.s_t.dtype)
        memory = memory.take_in(here.moved, rho * epsilon, here.weighted(inverse * epsilon))
        if not counted:
            return memory, {}
        scale = here.along(memory.s_tilde, memory.w_tilde)
        return memory, {name: scale * value for name, value in memory.theta_tilde.items()}

    def own_norms(self, memory: PairMemory, here: Here) -> Tensor:
        """‖∂s_i(t)/∂θ_i‖ as (S, C), over the weights that column i owns."""
        network = memory.readout.network
        assert isinstance(network, ColumnarNetwork)
        s_t = network.step(here.theta, here.x_t, memory.s, stop_lateral=True)
        squares = torch.zeros_like(s_t)
        for s_k, square in zip(s_t, squares, strict=True):
            grads = torch.autograd.grad(s_k.sum(), list(here.theta.values()), retain_graph=True, materialize_grads=True)
            for owner, grad in zip(network.owner.values(), grads, strict=True):
                squares_of = grad.square().flatten(1).sum(1) if grad.ndim > 1 else grad.square()
                square.index_add_(0, owner.flatten(), squares_of)
        return squares.sqrt()


def scales(norms: Tensor) -> tuple[Tensor, Tensor]:
    """ρ_i and 1/ρ_i; the unit vector e_i has norm 1."""
    return balance(norms, torch.ones_like(norms))


ONLINE = {"nobacktrack": OnlineNoBackTrack}
