"""The rank-one approximation that uoro and nobacktrack share: ∂τ(t)/∂θ ≈ τ̃(t) ⊗ θ̃(t).

    τ̃(t) = ρ0 𝒥(t) τ̃(t-1) + n(t)            n, m: the new noise of the states, and what it weights
    θ̃(t) = θ̃(t-1)/ρ0 + m(t)ᵀ ∂s(t)/∂θ          ρ0 = √(‖θ̃(t-1)‖ / ‖𝒥(t) τ̃(t-1)‖)

It is unbiased if n and m are odd in fair signs and E[n mᵀ] = 1. The two algorithms differ in the scales of n and m, and
in whether the last step of each loss is taken from τ̃ or exactly.

    credit     c(t) = m(t) κ(t),   κ(t) = ∂L(t)/∂τ · τ̃(t) + κ(t+1)/ρ0(t+1),   crosses columns
"""

from abc import abstractmethod

import torch
from torch import Tensor

from colrun.estimators.base import Online, predict
from colrun.estimators.stochastic import Signs, balance
from colrun.networks.base import Gradients, Network


class OnlineRankOne(Online):
    """Keeps τ̃, θ̃ and nothing else."""

    def __init__(self, network: Network, step_size: float | None, signs: Signs) -> None:
        super().__init__(network, step_size)
        self.signs = signs
        self.s_tilde = torch.zeros_like(self.s)
        self.w_tilde = torch.zeros_like(self.w)
        self.theta_tilde = {name: torch.zeros_like(value) for name, value in network.theta.items()}

    @abstractmethod
    def update(self, x_t: Tensor, s_tm1: Tensor, s_t: Tensor, moved: Tensor, on_loss: tuple[Tensor, Tensor]) -> None:
        """Add to the total, and let the pair take in the noise of this step.

        `moved` is J(t) s̃(t-1), `s_t` has its graph, and `on_loss` is ∂L(t)/∂h and ∂L(t)/∂w.
        """

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Forward, the pair, then LMS and its tangent."""
        s_tm1 = self.s
        s_t = self.network.step(self.theta, x_t, s_tm1)
        moved = self.moved(x_t, s_tm1)
        self.s = s_t.detach()
        h_t, w_t = self.s[0], self.w
        _, delta, self.w = predict(w_t, h_t, y_t, self.step_size)
        self.update(x_t, s_tm1, s_t, moved, (-delta * w_t, -delta * h_t))
        if self.step_size is not None:
            h_tilde = self.s_tilde[0]
            delta_tilde = -(w_t @ h_tilde + h_t @ self.w_tilde)
            self.w_tilde = self.w_tilde + self.step_size * (delta_tilde * h_t + delta * h_tilde)

    def moved(self, x_t: Tensor, s_tm1: Tensor) -> Tensor:
        """J(t) s̃(t-1): Jᵀu is linear in u, and the derivative of Jᵀu · s̃ by u is J s̃."""
        if not self.network.architecture.recurrent:
            return torch.zeros_like(s_tm1)
        before = s_tm1.detach().requires_grad_()
        after = self.network.step(self.network.theta, x_t, before)
        u = torch.zeros_like(after).requires_grad_()
        (pulled_back,) = torch.autograd.grad(after, before, u, create_graph=True)
        return torch.autograd.grad(pulled_back, u, self.s_tilde)[0]

    def take_in(self, moved: Tensor, into_state: Tensor, into_theta: Gradients) -> None:
        """Scale the old pair by ρ0 and add the new noise."""
        rho, inverse = balance(norm(self.theta_tilde), (moved.square().sum() + self.w_tilde.square().sum()).sqrt())
        self.s_tilde = rho * moved + into_state
        self.w_tilde = rho * self.w_tilde
        for name, new in into_theta.items():
            self.theta_tilde[name] = inverse * self.theta_tilde[name] + new

    def along(self, s_tilde: Tensor, on_loss: tuple[Tensor, Tensor]) -> Tensor:
        """∂L(t)/∂τ · τ̃."""
        return on_loss[0] @ s_tilde[0] + on_loss[1] @ self.w_tilde

    def add(self, scale: Tensor) -> None:
        """θ̃, scaled, into the total."""
        for name, value in self.theta_tilde.items():
            self.total[name] += scale * value

    def weighted(self, s_t: Tensor, weights: Tensor) -> Gradients:
        """weightsᵀ ∂s(t)/∂θ: one backward pass."""
        found = {name: torch.zeros_like(value) for name, value in self.network.theta.items()}
        self.backward([s_t], [weights], [], into=found)
        return found


def norm(gradients: Gradients) -> Tensor:
    """Over all weights."""
    return torch.stack([value.square().sum() for value in gradients.values()]).sum().sqrt()
