"""Estimators of the gradient of Σ_t L(t), by name. One file per algorithm; this table imports no torch."""

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from colrun.errors import InvalidValueError, choose, shown

if TYPE_CHECKING:
    from colrun.estimators.base import Estimator


@dataclass(frozen=True)
class EstimatorEntry:
    """What can be said of an estimator without importing torch."""

    module: str
    summary: str
    windowed: bool = False
    """Whether the name ends in a number: `tbptt-40`."""
    stochastic: bool = False
    """Whether it has noise, hence draws."""


ESTIMATORS: dict[str, EstimatorEntry] = {
    "bptt": EstimatorEntry("bptt", "exact gradient, backpropagation through the whole sequence: the truth"),
    "rtrl": EstimatorEntry("rtrl", "exact gradient, carried forward as the Jacobian of the state"),
    "tbptt": EstimatorEntry("tbptt", "each loss is credited through the last k steps only (sliding window)", True),
    "tbptt-block": EstimatorEntry("tbptt_block", "the sequence is cut into blocks of k steps", True),
    "master-user": EstimatorEntry("master_user", "a weight tracks its influence on its own column's state only"),
    "master-user-no-meta": EstimatorEntry("master_user", "master-user that ignores its influence on the learning w"),
    "master-user-groups": EstimatorEntry("master_user_groups", "master-user with the weights in random groups"),
    "uoro": EstimatorEntry("uoro", "unbiased: rtrl's Jacobian as one random outer product", stochastic=True),
    "nobacktrack": EstimatorEntry("nobacktrack", "unbiased: as uoro, with a scale for every state", stochastic=True),
    "kf-rtrl": EstimatorEntry("kf_rtrl", "unbiased: one random Kronecker product per weight matrix", stochastic=True),
}


LARGEST_WINDOW = 10**18  # what a column of 64-bit integers holds


@dataclass(frozen=True)
class EstimatorName:
    """A name and its window: `tbptt-40` is `tbptt`, 40."""

    family: str
    window: int | None = None

    def __str__(self) -> str:
        return self.family if self.window is None else f"{self.family}-{self.window}"


def parse_estimator(name: str) -> EstimatorName:
    """Split a name as users write it into the estimator and its window."""
    match = re.fullmatch(r"(.+?)-(-?[0-9]+)", str(name), re.ASCII)
    family, digits = (match[1], match[2]) if match else (str(name), None)
    window = None if digits is None else int(digits) if len(digits) <= 18 else LARGEST_WINDOW + 1
    known = [f"{key}-k" if entry.windowed else key for key, entry in ESTIMATORS.items()]
    if family not in ESTIMATORS or (window is not None and not ESTIMATORS[family].windowed):
        misnumbered = re.fullmatch(r"(.+?)[-_ ]?(k|[0-9.+].*)", str(name))
        if misnumbered and misnumbered[1] in ESTIMATORS and ESTIMATORS[misnumbered[1]].windowed:
            raise InvalidValueError(
                f"estimator {name!r} is not known; the window must be a whole number after the name, such as "
                f"{misnumbered[1]}-40."
            )
        choose(name, known, "estimator")
    if ESTIMATORS[family].windowed:
        if window is None:
            raise InvalidValueError(f"estimator {shown(name)} needs a window, such as {family}-40.")
        if window < 1:
            raise InvalidValueError(
                f"window {window} of estimator {shown(name)} must be 1 or more, such as {family}-1."
            )
        if window > LARGEST_WINDOW:
            raise InvalidValueError(
                f"estimator {shown(name)} has a window above {LARGEST_WINDOW}; the sequence's length is enough."
            )
    return EstimatorName(family, window)


def get_estimator(family: str) -> "Estimator":
    """The estimator of that name, from the table `ESTIMATORS` of its module."""
    entry = ESTIMATORS[choose(family, ESTIMATORS, "estimator")]
    found: Estimator = import_module(f"colrun.estimators.{entry.module}").ESTIMATORS[family]
    return found
