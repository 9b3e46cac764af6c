"""Learning curves: the mean squared error of every bin of a run. Step t of T, counted from 0, is in bin ⌊bins t/T⌋."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from colrun.errors import InvalidValueError
from colrun.tasks import Source, get_task

if TYPE_CHECKING:
    from colrun.learning.learner import Learner

AT_ONCE = 20_000
"""Steps drawn at once: what is drawn is held in memory."""


def source(task: str, seed: int, inputs: int) -> Source:
    """The stream of a seed; a network must have as many inputs as its task."""
    found = get_task(task)
    if found.inputs is not None and found.inputs != inputs:
        raise InvalidValueError(f"task {task} has {found.inputs} inputs, and the network takes {inputs}.")
    return found.source(seed, inputs)


def ends(steps: int, bins: int) -> list[int]:
    """The number of steps up to the end of every bin; a bin that holds none ends where the one before it does."""
    return [-(-steps * (number + 1) // bins) for number in range(bins)]


def pieces(begin: int, end: int) -> Iterator[int]:
    """A bin in pieces that are drawn at once."""
    while begin < end:
        size = min(AT_ONCE, end - begin)
        yield size
        begin += size


def run(learner: "Learner", source: Source, steps: int, bins: int) -> pd.DataFrame:
    rows = []
    for begin, end in pairwise([0, *ends(steps, bins)]):
        errors, counts = 0.0, 0
        for size in pieces(begin, end):
            if learner.diverged_at is None:
                given = source.take(size)
                found = learner.advance(given.x, given.y, given.counted)
                errors, counts = errors + found[0], counts + found[1]
        over = learner.diverged_at is not None
        rows.append((end, None if over or not counts else errors / counts))
    return pd.DataFrame(rows, columns=["step", "mse"])
