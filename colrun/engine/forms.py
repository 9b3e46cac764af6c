"""What an estimator's fast form offers the engine: for every network and step a credit.

Over a sequence with fixed θ every estimator is ĝ = Σ_t Σ_i c_i(t) ∂s_i(t)/∂θ(t): only the credit c, and whether it
crosses columns, differ. Fast forms stand beside their estimators and have their own kernels.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from colrun.compiling import Array
from colrun.engine.run import Run
from colrun.streams import stream

Gradients = dict[str, Array]
"""One array per named parameter, (N, …); zero where the weight is masked."""
GROUP_NUMBERS = 4_000_000
"""About how many numbers the draws that are taken at once may fill."""


class PreactivationCredit(NamedTuple):
    """Credit of everything a weight feeds into, at every step."""

    a: Array
    """(N, T, G, C): of U f + q"""
    r: Array
    """(N, T, G, C): of R h(t-1)"""
    second: Array
    """(N, C, W, T): of B z + c"""
    first: Array
    """(N, C, W, T): of A [x; h] + b"""


Credit = Array | PreactivationCredit
"""Of states, (N, T, P) or (N, T, S, C), or of pre-activations."""


class FastForm(ABC):
    """An estimator without noise."""

    crosses: ClassVar[bool] = True
    """Whether a column's features are also credited for what they do to the states of other columns. Credits of
    pre-activations say that themselves."""

    @abstractmethod
    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """The credit for each window; gradients themselves where no credit of states or pre-activations gives them."""


class StochasticForm(ABC):
    """An estimator with noise, whose draws are taken several at once. Its credits cross columns."""

    name: ClassVar[str]
    """Of its random stream."""

    @abstractmethod
    def drawn(self, run: Run, draws: list[int]) -> list[Credit]:
        """The credit of each draw."""

    def groups(self, run: Run, draws: int) -> Iterator[list[int]]:
        """Draws 0 … draws-1 in groups that stay within memory."""
        N, C, T, W = run.f.shape
        size = max(1, GROUP_NUMBERS // (N * C * T * max(T, W)))
        return (list(range(first, min(first + size, draws))) for first in range(0, draws, size))

    def signs(self, run: Run, draws: list[int], *shape: int) -> Array:
        """(N, draws, T, …): fair signs of each network, draw and step, from a stream for each network and draw."""
        T = run.shape[1]
        drawn = [
            [stream(seed, f"{self.name}.{draw}").random((T, *shape)) < 0.5 for draw in draws]
            for seed in run.batch.seeds
        ]
        return np.where(np.array(drawn), 1.0, -1.0).astype(run.h.dtype)


def weighted_sum(credits: list[Credit], weight: float) -> Credit:
    """Its gradient is that of theirs, since gradients are linear in credits."""
    if isinstance(credits[0], PreactivationCredit):
        return PreactivationCredit(*(np.sum(parts, axis=0) * weight for parts in zip(*credits, strict=True)))
    total: Array = np.sum(np.stack(credits), axis=0)
    return total * weight
