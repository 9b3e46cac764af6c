"""Trials: events that begin one after the other, each with what was drawn for it. What trial-based tasks share."""

from collections.abc import Callable

import numpy as np

from colrun import streams
from colrun.streams import Array

AT_ONCE = 256


class Trials:
    """The trials of one seed in order: the step each begins at (0 is the first), its length, and its numbers.

    `draw` makes of uniform numbers (trials, columns) what a trial needs, the trials' lengths first. Uniform numbers of
    one trial come one after the other from one stream, so that nothing depends on how many are drawn at once.
    """

    def __init__(self, seed: int, name: str, columns: int, draw: Callable[[Array], tuple[Array, ...]]) -> None:
        self.stream = streams.stream(seed, name)
        self.columns, self.draw = columns, draw
        self.next = 0
        self.begin = np.zeros(0, dtype=np.int64)
        self.known: tuple[Array, ...] = ()

    def between(self, start: int, stop: int) -> tuple[Array, ...]:
        """Beginning, length and numbers of all trials that overlap these steps; asked for in increasing order."""
        while self.next < stop:
            found = self.draw(self.stream.random((AT_ONCE, self.columns)))
            ends = self.next + np.cumsum(found[0])
            begin = np.concatenate([[self.next], ends[:-1]])
            self.begin = np.concatenate([self.begin, begin])
            self.known = tuple(map(np.concatenate, zip(self.known, found, strict=True))) if self.known else found
            self.next = int(ends[-1])
        left = self.begin + self.known[0] > start
        self.begin, self.known = self.begin[left], tuple(values[left] for values in self.known)
        here = self.begin < stop
        return (self.begin[here], *(values[here] for values in self.known))


def whole(uniform: Array, low: int, high: int) -> Array:
    """Whole numbers, each as likely, from `low` to `high`."""
    found: Array = (low + np.floor(uniform * (high - low + 1))).astype(np.int64)
    return found


def sign(uniform: Array) -> Array:
    """Fair signs."""
    return np.where(uniform < 0.5, 1.0, -1.0)


def place(target: Array, at: Array, value: Array | float, start: int) -> None:
    """Write values at those steps that lie in a piece beginning at `start`."""
    at = at - start
    inside = (at >= 0) & (at < len(target))
    target[at[inside]] = value[inside] if isinstance(value, np.ndarray) else value
