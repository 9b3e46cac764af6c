"""What the stochastic estimators share: random signs, draws, and the learner's state that they follow.

A draw is one run of a stochastic estimator. Its signs come from a stream of its own, named by estimator and draw, so
that the network's seed and the draw's number fix them whatever else runs.

Where w learns, the state that is followed is the pair τ(t) = (s(t), w(t)): w(t) is made by LMS from τ(t-1) alone and
L(t) is a function of τ(t), so that all of RTRL, and every unbiased approximation of it, holds for τ as it does for s:

    ∂τ(t)/∂θ = (∂s(t)/∂θ, 0) + 𝒥(t) ∂τ(t-1)/∂θ        𝒥 = [J  0;  α (δ I - h wᵀ)  I - α h hᵀ],   h, w, δ of step t-1
    ∂L(t)/∂τ(t) = (-δ w, -δ h)
"""

from abc import abstractmethod
from collections.abc import Iterator
from collections.abc import Sequence as Several
from copy import copy, deepcopy
from typing import ClassVar, Self

import torch
from torch import Tensor

from colrun.estimators.adjoint import own_loss
from colrun.estimators.base import Estimator
from colrun.networks.base import Gradients
from colrun.networks.contraction import PreactivationCredit, contract, spread
from colrun.networks.trajectory import Trajectory
from colrun.streams import stream

Credit = Tensor | PreactivationCredit
"""Of states, (N, T, S, C), crossing columns; or of pre-activations."""
GROUP_NUMBERS = 4_000_000
"""About how many numbers the draws that are taken at once may fill."""


class Stochastic(Estimator):
    """An estimator with noise. It is bound to one draw; `drawn` gives several at once."""

    name: ClassVar[str]
    """Of its random stream."""
    draw: int = 0

    def with_draw(self, draw: int) -> Self:
        """The same with the noise of another draw."""
        bound = copy(self)
        bound.draw = draw
        return bound

    @abstractmethod
    def drawn(self, trajectory: Trajectory, draws: Several[int]) -> list[Credit]:
        """The credit of each draw."""

    def compiled_drawn(self, trajectory: Trajectory, draws: Several[int]) -> list[Credit]:
        """The same by compiled kernels, where an estimator has them."""
        return self.drawn(trajectory, draws)

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """Of the one draw."""
        (credit,) = self.drawn(trajectory, [self.draw])
        return [gradient_of(trajectory, credit)] * len(windows)

    def groups(self, trajectory: Trajectory, draws: int) -> Iterator[range]:
        """Draws 0 … draws-1 in groups that stay within memory."""
        N, T, C, W = trajectory.f.shape
        size = max(1, GROUP_NUMBERS // (N * C * T * max(T, W)))
        return (range(first, min(first + size, draws)) for first in range(0, draws, size))

    def signs(self, trajectory: Trajectory, draws: Several[int], *shape: int) -> Tensor:
        """(N, D, T, …): of each network, draw and step."""
        seeds, T = trajectory.batch.seeds, trajectory.steps
        each = [torch.stack([Signs(seed, self.name, draw).take(T, *shape) for draw in draws]) for seed in seeds]
        return torch.stack(each).to(trajectory.delta.dtype)


class Signs:
    """Fair signs of one network and draw, step after step."""

    def __init__(self, seed: int, name: str, draw: int) -> None:
        self.stream = stream(seed, f"{name}.{draw}")

    def copy(self) -> "Signs":
        """With the same signs to come."""
        return deepcopy(self)

    def take(self, *shape: int) -> Tensor:
        """The next ones: ±1 in float64. All steps at once are the same as one step after another."""
        return torch.from_numpy(self.stream.random(shape) < 0.5).double() * 2 - 1


def gradient_of(trajectory: Trajectory, credit: Credit) -> Gradients:
    """Contract a credit of either kind."""
    return contract(trajectory, spread(trajectory, credit, True) if isinstance(credit, Tensor) else credit)


def weighted_sum(credits: Several[Credit], weight: float) -> Credit:
    """Its gradient is that of theirs, since gradients are linear in credits."""
    parts = zip(*((credit,) if isinstance(credit, Tensor) else credit for credit in credits), strict=True)
    totals = [torch.stack(each).sum(0) * weight for each in parts]
    return totals[0] if len(totals) == 1 else PreactivationCredit(*totals)


def balance(above: Tensor, below: Tensor) -> tuple[Tensor, Tensor]:
    """ρ = √(above/below) and 1/ρ, the scale at which both factors of a product have the same norm.

    Where a factor is 0 so is the product: it is left out (ρ = 1/ρ = 0), which leaves out its noise too and no more. The
    published algorithms add a small ε to norms and ρ instead.
    """
    exists = (above != 0) & (below != 0)  # NaN is kept
    return torch.where(exists, (above / below).sqrt(), 0.0), torch.where(exists, (below / above).sqrt(), 0.0)


def learner_jacobian(trajectory: Trajectory) -> Tensor:
    """(N, T, Q, Q): 𝒥(t), which is J(t) where w does not learn."""
    alpha = trajectory.step_size
    if alpha is None:
        return trajectory.jacobian
    N, T, P, _ = trajectory.jacobian.shape
    C = trajectory.h.shape[-1]
    joint = trajectory.jacobian.new_zeros(N, T, P + C, P + C)
    joint[:, :, :P, :P] = trajectory.jacobian
    h, w, delta = trajectory.h[:, :-1], trajectory.w[:, :-1], trajectory.delta[:, :-1, None, None]
    eye = torch.eye(C, dtype=h.dtype)
    joint[:, 1:, P:, :C] = alpha * (delta * eye - h.unsqueeze(-1) * w.unsqueeze(-2))
    joint[:, 1:, P:, P:] = eye - alpha * h.unsqueeze(-1) * h.unsqueeze(-2)
    return joint


def learner_loss(trajectory: Trajectory) -> Tensor:
    """(N, T, Q): ∂L(t)/∂τ(t)."""
    own = own_loss(trajectory)
    return own.lam if trajectory.step_size is None else torch.cat([own.lam, own.mu], dim=-1)
