"""What a claim comes to: a verdict and the numbers behind it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from colrun.verdicts.statistics import Estimate

REPRODUCED, NOT_REPRODUCED, DIVERGED, NO_DATA = "reproduced", "not reproduced", "diverged", "no data"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, DIVERGED, NO_DATA)
MOST_DIVERGED = 0.1
"""Share of the rows in scope; beyond it what is left says more of which networks survive than of the claim."""


class NoDataError(Exception):
    """The rows that a claim needs are not there; says which."""


@dataclass(frozen=True)
class Number:
    """One number, with its standard error and what it is held against."""

    group: str
    """What is measured, the same for numbers that belong side by side: "lead over tbptt-40"."""
    label: str
    """Where: "0.1 %". Empty if there is only one."""
    value: float
    error: float = math.nan
    """Standard error; not a number where there is none, as for an extreme or a count."""
    n: int | None = None
    """Networks."""
    holds: bool | None = None
    """Whether the claim's condition holds here; None for a number that is printed beside it and decides nothing."""
    bound: str = ""
    """The condition, in words: "> 2 standard errors"."""
    unit: str = "%"
    """`%` for a share, `points` for a difference of shares (both are stored as ratios), or nothing."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim in one reading."""

    verdict: str
    numbers: tuple[Number, ...] = ()
    notes: tuple[str, ...] = ()
    rows: int = 0
    """Rows in scope."""
    diverged: int = 0
    """Those of them that diverged; they are left out of every number."""


def decide(scope: tuple[int, int], numbers: Iterable[Number], notes: Iterable[str] = ()) -> Verdict:
    """Reproduced if every number that is to decide holds; diverged if too many of the (rows, diverged) in scope did."""
    rows, diverged = scope
    found = tuple(numbers)
    deciding = [number.holds for number in found if number.holds is not None]
    if rows and diverged / rows > MOST_DIVERGED:
        verdict = DIVERGED
    elif not deciding:
        verdict = NO_DATA
    else:
        verdict = REPRODUCED if all(deciding) else NOT_REPRODUCED
    return Verdict(verdict, found, tuple(dict.fromkeys(notes)), rows, diverged)


def of(group: str, label: str, found: Estimate, holds: bool | None = None, bound: str = "", unit: str = "%") -> Number:
    return Number(group, label, found.value, found.error, found.n, holds, bound, unit)
