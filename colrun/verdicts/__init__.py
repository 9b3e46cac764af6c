"""What all claims are judged with. This module imports no pandas: it says what a claim is.

scope.py        the rows that a claim is about
statistics.py   means, errors, pairs, corrections
verdict.py      numbers → a verdict
"""

from dataclasses import dataclass

from colrun.networks.readings import PAPER

EVERY_READING: tuple[str | None, ...] = PAPER
ONCE = (None,)
"""For what no reading touches, such as torch's own cells."""


@dataclass(frozen=True)
class ClaimEntry:
    """A claim, as the experiment that it is about declares it."""

    module: str
    """Its function of the claim's name, with underscores, takes the DataFrames of `sweeps` and returns a `Verdict`."""
    sentence: str
    """The paper's, in short."""
    test: str
    """What decides it."""
    sweeps: tuple[str, ...]
    """Whose rows its function takes, in this order; without rows, an empty frame."""
    readings: tuple[str | None, ...] = EVERY_READING
    of_any: bool = False
    """Whether its function also takes `who`, another estimator to ask in Master-User's place, such as a plug-in."""
    order: int = 1000
    """Place among all claims; those of one place stand as they were declared."""
