"""Learning curves: errors of every bin of a run."""

from itertools import pairwise
from typing import TYPE_CHECKING

from colrun.errors import InvalidValueError
from colrun.learning.bins import BINS, ends, pieces
from colrun.tasks import Source, get_task

if TYPE_CHECKING:
    from colrun.learning.learner import Learner


def source(task: str, seed: int, inputs: int) -> Source:
    """The stream of a seed; a network must have as many inputs as its task."""
    found = get_task(task)
    if found.inputs is not None and found.inputs != inputs:
        raise InvalidValueError(f"task {task} has {found.inputs} inputs, and the network takes {inputs}.")
    return found.source(seed, inputs)


def run(learner: "Learner", source: Source, steps: int, bins: int = BINS) -> list[tuple[float, int]]:
    """Σ δ² and the number of counted steps of every bin, until it diverges."""
    found = []
    for begin, end in pairwise([0, *ends(steps, bins)]):
        errors, counts = 0.0, 0
        for size in pieces(begin, end):
            if learner.diverged_at is None:
                given = source.take(size)
                more = learner.advance(given.x, given.y, given.counted)
                errors, counts = errors + more[0], counts + more[1]
        found.append((errors, counts))
    return found
