"""What the stochastic estimators share: random signs, draws, and the learner's state that they follow.

A draw is one run of a stochastic estimator. Its signs come from a stream of its own, named by estimator and draw, so
that the network's seed and the draw's number fix them whatever else runs.

Where w learns, the state that is followed is the pair τ(t) = (s(t), w(t)): w(t) is made by LMS from τ(t-1) alone and
L(t) is a function of τ(t), so that all of RTRL, and every unbiased approximation of it, holds for τ as it does for s:

    ∂τ(t)/∂θ = (∂s(t)/∂θ, 0) + 𝒥(t) ∂τ(t-1)/∂θ        𝒥 = [J  0;  α (δ I - h wᵀ)  I - α h hᵀ],   h, w, δ of step t-1
    ∂L(t)/∂τ(t) = (-δ w, -δ h)
"""

from copy import deepcopy

import torch
from torch import Tensor

from colrun.streams import stream


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


def balance(above: Tensor, below: Tensor) -> tuple[Tensor, Tensor]:
    """ρ = √(above/below) and 1/ρ, the scale at which both factors of a product have the same norm.

    Where a factor is 0 so is the product: it is left out (ρ = 1/ρ = 0), which leaves out its noise too and no more. The
    published algorithms add a small ε to norms and ρ instead.
    """
    exists = (above != 0) & (below != 0)  # NaN is kept
    return torch.where(exists, (above / below).sqrt(), 0.0), torch.where(exists, (below / above).sqrt(), 0.0)
