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

from collections.abc import Sequence as Several

import torch
from torch import Tensor

from colrun.estimators.rank_one import Here, OnlineRankOne, PairMemory, local_gram, rank_one_credits
from colrun.estimators.stochastic import Credit, Stochastic, balance
from colrun.estimators.theory import Power
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.trajectory import Trajectory


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


def own_norms(trajectory: Trajectory) -> Tensor:
    """‖∂s_i(t)/∂θ_i‖ as (N, T, S, C), layer by layer."""
    batch, grams = trajectory.batch, trajectory.grams
    by_a, by_r, _ = trajectory.partials
    first, second, a, r = (gram.diagonal(dim1=-2, dim2=-1).transpose(1, 2) for gram in grams)  # (N, T, C or G·C)
    a, r = (square.reshape(by_a[:, :, 0].shape) for square in (a, r))
    own = torch.diagonal(batch.U, dim1=2, dim2=3).mT  # (N, G, C, W)
    found = []
    for k in range(by_a.shape[2]):
        square = (by_a[:, :, k].square() * a + by_r[:, :, k].square() * r).sum(2)
        credit = (trajectory.f > 0) * torch.einsum("ntgi,ngiw->ntiw", by_a[:, :, k], own)
        square = square + credit.square().sum(-1) * second
        credit = (trajectory.z > 0) * torch.einsum("ntcw,ncwv->ntcv", credit, batch.layers.B)
        found.append(square + credit.square().sum(-1) * first)
    return torch.stack(found, dim=2).sqrt()


class NoBackTrack(Stochastic):
    """All draws at once."""

    name = "nobacktrack"
    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(parameters=1)
    needs_columns = True

    def drawn(self, trajectory: Trajectory, draws: Several[int]) -> list[Credit]:
        """The scales are the same for all draws."""
        rho, inverse = scales(own_norms(trajectory).unsqueeze(1))
        epsilon = self.signs(trajectory, draws, *trajectory.s.shape[2:])
        into_state, into_theta = rho * epsilon, inverse * epsilon
        gram = local_gram(trajectory, into_theta)
        return list(rank_one_credits(trajectory, into_state.flatten(3), into_theta.flatten(3), gram, own_exactly=False))


ONLINE = {"nobacktrack": OnlineNoBackTrack}
ESTIMATORS = {"nobacktrack": NoBackTrack()}
