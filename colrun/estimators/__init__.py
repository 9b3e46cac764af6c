"""Estimators of the gradient of Σ_t L(t), by name. One file per algorithm; this table imports no torch."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from colrun.errors import InvalidValueError, choose, shown
from colrun.estimators.plugins import PluginError, known_plugins

if TYPE_CHECKING:
    from colrun.engine.measure import Asked, Form
    from colrun.estimators.base import Estimator


@dataclass(frozen=True)
class EstimatorEntry:
    """What can be said of an estimator without importing torch."""

    module: str
    summary: str
    windowed: bool = False
    """Whether the name ends in a number: `tbptt-40`."""
    undefined: Mapping[str, str] = field(default_factory=dict)
    """Cells on which the method is not defined, each with the reason."""
    weight: float = 1.0
    """Its work in credit form, in times that of an estimator with a compiled credit: for estimates of time."""
    stochastic: bool = False
    """Whether it has noise, hence draws."""


NOTHING_TO_TRACE = {
    "feedforward": "its trace has the leak of a recurrent state, and the feedforward cell carries no state"
}

ESTIMATORS: dict[str, EstimatorEntry] = {
    "bptt": EstimatorEntry("bptt", "exact gradient, backpropagation through the whole sequence: the truth"),
    "rtrl": EstimatorEntry("rtrl", "exact gradient, carried forward as the Jacobian of the state"),
    "tbptt": EstimatorEntry("tbptt", "each loss is credited through the last k steps only (sliding window)", True),
    "tbptt-block": EstimatorEntry("tbptt_block", "the sequence is cut into blocks of k steps", True),
    "master-user": EstimatorEntry("master_user", "a weight tracks its influence on its own column's state only"),
    "master-user-no-meta": EstimatorEntry("master_user", "master-user that ignores its influence on the learning w"),
    "master-user-groups": EstimatorEntry("master_user_groups", "master-user with the weights in random groups"),
    "elman": EstimatorEntry("elman", "no time at all: each loss is credited through its own step only, as tbptt-1"),
    "snap": EstimatorEntry(
        "snap", "a weight tracks its influence on the states it reaches within k steps", True, weight=1.5
    ),
    "rflo": EstimatorEntry(
        "rflo", "a leaky trace per weight and random feedback of the error", undefined=NOTHING_TO_TRACE
    ),
    "rflo-symmetric": EstimatorEntry(
        "rflo", "rflo with w in place of the random feedback: its trace alone", undefined=NOTHING_TO_TRACE
    ),
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
    source: str | None = field(default=None, compare=False)
    """The hash of a plug-in's source; None where the estimator is colrun's own."""

    def __str__(self) -> str:
        return self.family if self.window is None else f"{self.family}-{self.window}"

    @property
    def key(self) -> str:
        """What tells results apart: the name and, for a plug-in, its source: `mine-3@1f0e…`."""
        return str(self) if self.source is None else f"{self}@{self.source}"


def known_estimators() -> dict[str, EstimatorEntry]:
    """colrun's own and those of plug-ins, none of which is imported."""
    return ESTIMATORS | {
        name: EstimatorEntry(plugin.where, plugin.summary, plugin.windowed)
        for name, plugin in known_plugins(ESTIMATORS).items()
    }


def parse_estimator(name: str) -> EstimatorName:
    """Split a name as users write it, or a key, into the estimator and its window."""
    name, at, source = str(name).partition("@")
    match = re.fullmatch(r"(.+?)-(-?[0-9]+)", name, re.ASCII)
    family, digits = (match[1], match[2]) if match else (name, None)
    window = None if digits is None else int(digits) if len(digits) <= 18 else LARGEST_WINDOW + 1
    table = ESTIMATORS if family in ESTIMATORS else known_estimators()
    if family not in table or (window is not None and not table[family].windowed):
        misnumbered = re.fullmatch(r"(.+?)[-_ ]?(k|[0-9.+].*)", name)
        if misnumbered and misnumbered[1] in table and table[misnumbered[1]].windowed:
            raise InvalidValueError(
                f"estimator {name!r} is not known; the window must be a whole number after the name, such as "
                f"{misnumbered[1]}-40."
            )
        known = [f"{key}-k" if entry.windowed else key for key, entry in known_estimators().items()]
        choose(name, known, "estimator")
    if table[family].windowed:
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
    if family in ESTIMATORS:
        if at:
            choose(f"{name}@{source}", ESTIMATORS, "estimator")
        return EstimatorName(family, window)
    plugin = known_plugins(ESTIMATORS)[family]
    if source not in ("", plugin.source):
        raise PluginError(
            f"{plugin.where} has changed: {family} was planned with source {source} and is {plugin.source} now; run "
            "the same command again."
        )
    return EstimatorName(family, window, plugin.source)


def why_undefined(family: str, cell: str) -> str | None:
    """The reason why an estimator is not defined on a cell; None if it is."""
    if family in ESTIMATORS:
        reason = ESTIMATORS[family].undefined.get(cell)
    else:
        reason = get_estimator(family).undefined.get(cell)
    return None if reason is None else f"{family} is not defined on the {cell} cell: {reason}"


def refuse_undefined(names: Iterable[EstimatorName], cell: str) -> None:
    """An estimator that is not defined there is a user's mistake."""
    for name in names:
        reason = why_undefined(name.family, cell)
        if reason is not None:
            raise InvalidValueError(f"{reason}; leave it out, or choose another cell.")


def get_estimator(family: str) -> "Estimator":
    """The estimator of that name, from the table `ESTIMATORS` of its module; a plug-in is imported here."""
    if family in ESTIMATORS:
        found: Estimator = import_module(f"colrun.estimators.{ESTIMATORS[family].module}").ESTIMATORS[family]
        return found
    from colrun.estimators.guarded import guarded

    return guarded(known_plugins(ESTIMATORS)[choose(family, known_estimators(), "estimator")])


def get_fast(family: str) -> "Form":
    """Its fast form, from the table `FAST` beside it; imports no torch, unless a plug-in does."""
    if family in ESTIMATORS:
        found: Form = import_module(f"colrun.estimators.{ESTIMATORS[family].module}_fast").FAST[family]
        return found
    from colrun.estimators.guarded_fast import guarded_fast

    return guarded_fast(known_plugins(ESTIMATORS)[choose(family, known_estimators(), "estimator")])


def fast_forms(names: Iterable[EstimatorName]) -> "dict[EstimatorName, Asked]":
    """What the engine is asked for: of each name its fast form and window, one form per family."""
    names = list(names)
    forms = {family: get_fast(family) for family in {name.family: None for name in names}}
    return {name: (forms[name.family], name.window) for name in names}
