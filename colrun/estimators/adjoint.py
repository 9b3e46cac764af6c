"""The exact adjoint of the learner's state (s, w), one step back at a time. What bptt and both truncations share.

With λ = ∂/∂s(t) and μ = ∂/∂w(t) of the losses in scope, μ and λ on the right taken at t+1:

    own loss     λ_h = -δ w                      μ = -δ h
    pulled back  λ   = J(t+1)ᵀ λ + α δ μ - α w (h·μ)        (the w terms on h only, where w learns)
                 μ   = μ - α h (h·μ)
"""

from typing import NamedTuple

import torch
from torch import Tensor

from colrun.engine.trajectory import Trajectory


class Adjoint(NamedTuple):
    """λ (N, steps, P) and μ (N, steps, C) at consecutive steps."""

    lam: Tensor
    mu: Tensor

    def __add__(self, other: "Adjoint") -> "Adjoint":  # type: ignore[override]
        return Adjoint(self.lam + other.lam, self.mu + other.mu)

    def at(self, steps: slice) -> "Adjoint":
        """These steps only."""
        return Adjoint(self.lam[:, steps], self.mu[:, steps])


def own_loss(trajectory: Trajectory) -> Adjoint:
    """The derivative of each L(t) with respect to s(t) and w(t), for all steps."""
    minus_delta = -trajectory.delta.unsqueeze(-1)
    lam_h = minus_delta * trajectory.w
    N, T, C = lam_h.shape
    P = trajectory.s.shape[2] * C
    lam = torch.cat([lam_h, lam_h.new_zeros(N, T, P - C)], dim=-1)
    return Adjoint(lam, minus_delta * trajectory.h)


def pull_back(trajectory: Trajectory, steps: slice, later: Adjoint) -> Adjoint:
    """Adjoints at `steps` from those at the steps one later. `steps` must end before the last step."""
    following = slice(steps.start + 1, steps.stop + 1)
    lam = torch.einsum("ntpq,ntp->ntq", trajectory.jacobian[:, following], later.lam)
    alpha = trajectory.step_size
    if alpha is None:
        return Adjoint(lam, torch.zeros_like(later.mu))  # w carries nothing from step to step
    h, w, delta = trajectory.h[:, steps], trajectory.w[:, steps], trajectory.delta[:, steps].unsqueeze(-1)
    h_mu = (h * later.mu).sum(-1, keepdim=True)
    lam[..., : h.shape[-1]] += alpha * (delta * later.mu - w * h_mu)
    return Adjoint(lam, later.mu - alpha * h * h_mu)


def as_credit(trajectory: Trajectory, lam: Tensor) -> Tensor:
    """(N, T, P) as (N, T, S, C)."""
    N, T, _ = lam.shape
    return lam.reshape(N, T, *trajectory.s.shape[2:])
