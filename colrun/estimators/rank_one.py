"""The rank-one approximation that uoro and nobacktrack share: ∂τ(t)/∂θ ≈ τ̃(t) ⊗ θ̃(t).

    τ̃(t) = ρ0 𝒥(t) τ̃(t-1) + n(t)            n, m: the new noise of the states, and what it weights
    θ̃(t) = θ̃(t-1)/ρ0 + m(t)ᵀ ∂s(t)/∂θ          ρ0 = √(‖θ̃(t-1)‖ / ‖𝒥(t) τ̃(t-1)‖)

It is unbiased if n and m are odd in fair signs and E[n mᵀ] = 1. The two algorithms differ in the scales of n and m, and
in whether the last step of each loss is taken from τ̃ or exactly.

    credit     c(t) = m(t) κ(t),   κ(t) = ∂L(t)/∂τ · τ̃(t) + κ(t+1)/ρ0(t+1),   crosses columns

‖θ̃(t)‖ follows from the inner products of the local gradients (networks/grams.py), so nothing is as large as θ.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.estimators.online import Memory, Online, Step, leaves, zeros
from colrun.estimators.stochastic import Signs, balance, learner_jacobian, learner_loss
from colrun.networks.base import Gradients, Theta
from colrun.networks.trajectory import Trajectory
from colrun.readout import Readout, error_tangent, w_tangent


@dataclass(frozen=True)
class PairMemory(Memory):
    """τ̃ = (s̃, w̃) and θ̃, and the signs to come."""

    signs: Signs
    s_tilde: Tensor
    w_tilde: Tensor
    theta_tilde: Theta

    def take_in(self, moved: Tensor, into_state: Tensor, into_theta: Gradients) -> "PairMemory":
        """Scale the old pair by ρ0 and add the new noise."""
        rho, inverse = balance(norm(self.theta_tilde), (moved.square().sum() + self.w_tilde.square().sum()).sqrt())
        theta_tilde = {name: inverse * self.theta_tilde[name] + new for name, new in into_theta.items()}
        return replace(self, s_tilde=rho * moved + into_state, w_tilde=rho * self.w_tilde, theta_tilde=theta_tilde)


class Here(NamedTuple):
    """A step, as the pair takes it in."""

    theta: Theta
    """Leaves."""
    x_t: Tensor
    s_t: Tensor
    """With its graph."""
    moved: Tensor
    """J(t) s̃(t-1)"""
    on_loss: tuple[Tensor, Tensor]
    """∂L(t)/∂s, of as many numbers of s as y sees, and ∂L(t)/∂w."""
    direct: Gradients
    """∂L(t)/∂θ at a fixed state, where there is one."""

    def along(self, s_tilde: Tensor, w_tilde: Tensor) -> Tensor:
        """∂L(t)/∂τ · τ̃."""
        by_state, by_w = self.on_loss
        return by_state @ s_tilde.flatten()[: len(by_state)] + by_w @ w_tilde

    def weighted(self, weights: Tensor) -> Gradients:
        """weightsᵀ ∂s(t)/∂θ, of as many numbers of s as there are weights: one backward pass."""
        outputs = self.s_t.flatten()[: weights.numel()]
        grads = torch.autograd.grad(
            outputs, list(self.theta.values()), weights.flatten(), retain_graph=True, materialize_grads=True
        )
        return dict(zip(self.theta, grads, strict=True))


class OnlineRankOne(Online[PairMemory]):
    """Keeps τ̃, θ̃ and nothing else."""

    instead = "uoro"

    def start(self, readout: Readout) -> PairMemory:
        network = readout.network
        s, w, signs = network.initial_state(), readout.start(), Signs(network.seed, self.name.family, self.draw)
        return PairMemory(readout, s, w, signs, torch.zeros_like(s), torch.zeros_like(w), zeros(network.theta))

    @abstractmethod
    def take(self, memory: PairMemory, here: Here, counted: bool) -> tuple[PairMemory, Gradients]:
        """Let the pair take in the noise of this step, and ĝ(t)."""

    def step(
        self, memory: PairMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[PairMemory, Step]:
        """Forward, the pair, then LMS and its tangent."""
        readout, w_t = memory.readout, memory.w
        memory = replace(memory, signs=memory.signs.copy())
        theta = leaves(theta)
        graph = readout.network.step(theta, x_t, memory.s)
        moved = self.moved(memory, theta, x_t)
        s_t = graph.detach()
        predicted = readout.predict(theta, s_t, w_t, y_t, counted)
        delta, slope = predicted.delta.detach(), readout.slope(theta, s_t, w_t)
        seen = readout.seen(s_t) if len(w_t) else w_t
        direct = {name: -delta * value for name, value in slope.direct.items()}
        here = Here(theta, x_t, graph, moved, (-delta * slope.by_state, -delta * seen), direct)
        memory, gradient = self.take(memory, here, counted)
        if readout.meta and counted:
            assert readout.step_size is not None
            tangent = memory.s_tilde.flatten()[: len(slope.by_state)]
            d_delta = error_tangent(slope.by_state, tangent, seen, memory.w_tilde)
            w_tilde = w_tangent(readout.step_size, memory.w_tilde, seen, d_delta, delta, tangent)
            memory = replace(memory, w_tilde=w_tilde)
        return replace(memory, s=s_t, w=predicted.w_tp1.detach()), Step.of(gradient, predicted, s_t)

    def moved(self, memory: PairMemory, theta: Theta, x_t: Tensor) -> Tensor:
        """J(t) s̃(t-1): Jᵀu is linear in u, and the derivative of Jᵀu · s̃ by u is J s̃."""
        network = memory.readout.network
        if not network.recurrent:
            return torch.zeros_like(memory.s)
        before = memory.s.detach().requires_grad_()
        after = network.step({name: value.detach() for name, value in theta.items()}, x_t, before)
        if not after.requires_grad:
            return torch.zeros_like(memory.s)
        u = torch.zeros_like(after).requires_grad_()
        (pulled_back,) = torch.autograd.grad(after, before, u, create_graph=True)
        return torch.autograd.grad(pulled_back, u, memory.s_tilde)[0]


def norm(gradients: Gradients) -> Tensor:
    """Over all weights."""
    return torch.stack([value.square().sum() for value in gradients.values()]).sum().sqrt()


def local_gram(trajectory: Trajectory, weights: Tensor) -> Tensor:
    """(N, D, T, T): inner products of m(t)ᵀ ∂s(t)/∂θ between steps, for weights m (N, D, T, S, C)."""
    batch, grams = trajectory.batch, trajectory.grams
    by_a, by_r, _ = trajectory.partials
    N, D, T, _, C = weights.shape
    a = torch.einsum("ndtsi,ntsgi->ndtgi", weights, by_a).flatten(3)  # (N, D, T, G·C)
    r = torch.einsum("ndtsi,ntsgi->ndtgi", weights, by_r).flatten(3)
    W, GC = trajectory.f.shape[-1], a.shape[-1]
    from_source = batch.U.permute(0, 3, 1, 2, 4).reshape(N, C, GC, W)
    active = [(value > 0).transpose(1, 2).unsqueeze(2).to(a.dtype) for value in (trajectory.f, trajectory.z)]
    second = (a.reshape(N, 1, D * T, GC) @ from_source).view(N, C, D, T, W) * active[0]
    first = (second.view(N, C, D * T, W) @ batch.layers.B).view(N, C, D, T, W) * active[1]
    found = torch.einsum("ndtk,nduk,nktu->ndtu", a, a, grams.a) + torch.einsum("ndtk,nduk,nktu->ndtu", r, r, grams.r)
    for credit, gram in ((second, grams.second), (first, grams.first)):
        found = found + ((credit @ credit.mT) * gram.unsqueeze(2)).sum(1)
    return found


def rank_one_credits(
    trajectory: Trajectory, into_state: Tensor, into_theta: Tensor, gram: Tensor, own_exactly: bool
) -> Tensor:
    """c (D, N, T, S, C) from n and m, both (N, D, T, P), and the inner products (N, D, T, T) of mᵀ ∂s/∂θ.

    `own_exactly`: whether each loss credits its own step by ∂L(t)/∂s(t) itself, and earlier ones by the pair before it.
    """
    N, D, T, P = into_state.shape
    jacobian, on_loss = learner_jacobian(trajectory), learner_loss(trajectory)
    noise = torch.nn.functional.pad(into_state, (0, on_loss.shape[-1] - P))
    tangent = torch.zeros_like(noise[:, :, 0])
    shares = gram.new_zeros(N, D, T)  # of the local gradients in θ̃
    square = gram.new_zeros(N, D)  # ‖θ̃‖²
    gain, decay = gram.new_zeros(N, D, T), gram.new_zeros(N, D, T)
    for t in range(T):
        moved = tangent @ jacobian[:, t].mT
        rho, inverse = balance(square.sqrt(), moved.square().sum(-1).sqrt())
        tangent = rho.unsqueeze(-1) * moved + noise[:, :, t]
        shares[..., :t] *= inverse.unsqueeze(-1)
        cross = (shares[..., :t] * gram[:, :, t, :t]).sum(-1)
        square = (inverse**2 * square + 2 * cross + gram[:, :, t, t]).clamp(min=0.0)
        shares[..., t] = 1.0
        decay[..., t] = inverse
        gain[..., t] = ((moved if own_exactly else tangent) * on_loss[:, None, t]).sum(-1)
    kappa = torch.zeros_like(gain)
    reached = gain.new_zeros(N, D)
    for t in reversed(range(T)):
        if own_exactly:
            kappa[..., t] = reached
            reached = gain[..., t] + decay[..., t] * reached
        else:
            kappa[..., t] = gain[..., t] + reached
            reached = decay[..., t] * kappa[..., t]
    credit = into_theta * kappa.unsqueeze(-1)
    if own_exactly:
        credit = credit + on_loss[:, None, :, :P]
    return credit.transpose(0, 1).reshape(D, N, T, *trajectory.s.shape[2:])
