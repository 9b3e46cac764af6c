"""Estimators of the gradient of Σ_t L(t), by name. One file per algorithm.

This table imports no torch. It is the one place that says how an estimator is called and looks in figures, tables and
the report, and what theory says of its cost.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from colrun.errors import InvalidValueError, choose, shown
from colrun.estimators.plugins import Plugin, PluginError, known_plugins
from colrun.estimators.theory import Power

if TYPE_CHECKING:
    from colrun.engine.measure import Asked, Form
    from colrun.estimators.online import Online


BY_WINDOW = "by window"
"""In place of a colour: light to dark by the window's length, the same for all such estimators."""


@dataclass(frozen=True)
class EstimatorEntry:
    """What can be said of an estimator without importing torch; what is left out, as for a plug-in, has a default."""

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
    only_learns: str = ""
    """Why nobody asks for its gradient at a θ that stands still; empty where one may."""
    cannot_learn: str = ""
    """Why it cannot learn online; empty where it can."""
    numerics: int = 1
    """Raise it when its numbers may change, and no others: its older rows are then stale."""
    label: str = ""
    """In legends; its name if empty."""
    short: str = ""
    """At the end of a curve; the label if empty."""
    legend: str = ""
    """One line of a legend for all windows, where colours go by window."""
    colour: str = ""
    """Hex, `BY_WINDOW`, or empty for one that is left over."""
    dash: str = "dashed"
    """`solid`, `dashed`, `dotted` or `dashdot`. Where colours go by window, a curve that is not solid has no label."""
    order: int = 50
    """Place in legends and tables; those of one place stand by name. At 0 is the method under study: drawn on top."""
    operations: Power | None = None
    """What theory says of operations per step of its online form; the tests hold it against what `cost` counts."""
    memory: Power | None = None
    """The same for what it holds between steps, besides weights and the gradient's sum."""


NOTHING_TO_TRACE = {
    "feedforward": "its trace has the leak of a recurrent state, and the feedforward cell carries no state"
}
LINEAR = Power(parameters=1)

ESTIMATORS: dict[str, EstimatorEntry] = {
    "bptt": EstimatorEntry(
        "bptt", "exact gradient, backpropagation through the whole sequence: the truth",
        cannot_learn="its gradient is known only when the sequence has ended; use rtrl, which is as exact, or tbptt-k",
        label="BPTT", colour="#949494", dash="dotted", operations=LINEAR, memory=Power(activations=1, steps=1),
    ),
    "rtrl": EstimatorEntry(
        "rtrl", "exact gradient, carried forward as the Jacobian of the state",
        label="RTRL", colour="#949494", dash="dotted",
        operations=Power(parameters=1, states=2), memory=Power(parameters=1, states=1),
    ),
    "tbptt": EstimatorEntry(
        "tbptt", "each loss is credited through the last k steps only (sliding window)", True,
        label="T-BPTT", legend="T-BPTT, last k steps (k at the right)", colour=BY_WINDOW, dash="solid", order=90,
        operations=Power(parameters=1, window=1), memory=Power(activations=1, window=1),
    ),
    "tbptt-block": EstimatorEntry(
        "tbptt_block", "the sequence is cut into blocks of k steps", True,
        label="T-BPTT blocks", legend="T-BPTT, blocks of k", colour=BY_WINDOW, order=91,
        operations=LINEAR, memory=Power(activations=1, window=1),
    ),
    "tbptt-replay": EstimatorEntry(
        "tbptt_replay", "the last k steps run again at the present weights, for each loss", True,
        only_learns="at weights that stand still it is tbptt-k; use that",
        label="T-BPTT replayed", legend="T-BPTT, last k steps replayed", colour=BY_WINDOW, dash="dotted", order=92,
    ),
    "frozen": EstimatorEntry(
        "frozen", "no gradient: the network stays as it was drawn, and only its readout w learns",
        only_learns="it gives no gradient, for networks that learn their readout alone",
        label="frozen", colour="#949494", dash="dotted", order=95,
    ),
    "master-user": EstimatorEntry(
        "master_user", "a weight tracks its influence on its own column's state only",
        label="Master-User", short="MU", colour="#000000", dash="solid", order=0, operations=LINEAR, memory=LINEAR,
    ),
    "master-user-no-meta": EstimatorEntry(
        "master_user", "master-user that ignores its influence on the learning w",
        cannot_learn="where networks learn it is master-user with meta = false, the default; use that",
        label="no meta-gradient", colour="#D55E00", operations=LINEAR, memory=LINEAR,
    ),
    "master-user-groups": EstimatorEntry(
        "master_user_groups", "master-user with the weights in random groups",
        label="random groups", short="groups", colour="#D55E00", dash="dashdot",
        operations=Power(parameters=1, states=1), memory=LINEAR,
    ),
    "elman": EstimatorEntry(
        "elman", "no time at all: each loss is credited through its own step only, as tbptt-1",
        label="Elman", colour="#949494", dash="dotted", operations=LINEAR, memory=Power(states=1),
    ),
    "snap": EstimatorEntry(
        "snap", "a weight tracks its influence on the states it reaches within k steps", True, weight=1.5, numerics=2,
        label="SnAp", colour="#0173B2", dash="solid",
        operations=Power(parameters=1, reached=2, window=None), memory=Power(parameters=1, reached=1, window=None),
    ),
    "rflo": EstimatorEntry(
        "rflo", "a leaky trace per weight and random feedback of the error", undefined=NOTHING_TO_TRACE,
        label="RFLO", colour="#CA9161", dash="dashdot", operations=LINEAR, memory=LINEAR,
    ),
    "rflo-symmetric": EstimatorEntry(
        "rflo", "rflo with w in place of the random feedback: its trace alone", undefined=NOTHING_TO_TRACE,
        label="RFLO, feedback w", short="RFLO w", colour="#56B4E9", operations=LINEAR, memory=LINEAR,
    ),
    "uoro": EstimatorEntry(
        "uoro", "unbiased: rtrl's Jacobian as one random outer product", stochastic=True,
        label="UORO", colour="#DE8F05", operations=LINEAR, memory=LINEAR,
    ),
    "nobacktrack": EstimatorEntry(
        "nobacktrack", "unbiased: as uoro, with a scale for every state", stochastic=True,
        label="NoBackTrack", short="NoBT", colour="#CC78BC", dash="dashdot", operations=LINEAR, memory=LINEAR,
    ),
    "kf-rtrl": EstimatorEntry(
        "kf_rtrl", "unbiased: one random Kronecker product per weight matrix", stochastic=True,
        label="KF-RTRL", short="KF", colour="#029E73",
        operations=Power(states=2, activations=1), memory=Power(states=1, activations=1),
    ),
}  # fmt: skip


UNDESCRIBED = EstimatorEntry("", "")
LARGEST_WINDOW = 10**18  # what a column of 64-bit integers holds


@dataclass(frozen=True)
class EstimatorName:
    """A name and its window: `tbptt-40` is `tbptt`, 40."""

    family: str
    window: int | None = None
    source: str | None = field(default=None, compare=False)
    """The hash of a plug-in's source; None where the estimator is colrun's own."""
    numerics: int = field(default=1, compare=False)
    """The numerics version of colrun's own."""

    def __str__(self) -> str:
        return self.family if self.window is None else f"{self.family}-{self.window}"

    @property
    def key(self) -> str:
        """What tells results apart: the name and, for a plug-in, its source (`mine-3@1f0e…`), or else its numerics
        version from the second on (`snap-2@v2`)."""
        version = f"v{self.numerics}" if self.numerics > 1 else ""
        return f"{self}@{self.source or version}" if self.source or version else str(self)

    @property
    def columns(self) -> dict[str, str | int | None]:
        """As rows have it."""
        return {
            "estimator": self.family,
            "window": self.window,
            "plugin": self.source,
            "estimator_numerics": self.numerics,
        }


def is_plugin(key: str) -> bool:
    """Whether a key is that of an estimator that is not colrun's own."""
    _, _, source = key.partition("@")
    return source != "" and not source.startswith("v")  # a hash has hexadecimal digits only


def known_estimators() -> dict[str, EstimatorEntry]:
    """colrun's own and those of plug-ins, none of which is imported."""
    return ESTIMATORS | {
        name: EstimatorEntry(plugin.where, plugin.summary, plugin.windowed)
        for name, plugin in known_plugins(ESTIMATORS).items()
    }


def described(family: str) -> EstimatorEntry:
    """How an estimator that has rows looks; one that is not at hand, such as a plug-in, as any without description."""
    return ESTIMATORS.get(family, UNDESCRIBED)


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
        found = EstimatorName(family, window, numerics=ESTIMATORS[family].numerics)
        if at and found.key != f"{name}@{source}":
            choose(f"{name}@{source}", ESTIMATORS, "estimator")
        return found
    plugin = known_plugins(ESTIMATORS)[family]
    if source not in ("", plugin.source):
        raise PluginError(
            f"{plugin.where} has changed: {family} was planned with source {source} and is {plugin.source} now; run "
            "the same command again."
        )
    return EstimatorName(family, window, plugin.source)


def why_undefined(family: str, cell: str | None, learns: bool = False) -> str | None:
    """The reason why an estimator is not defined on a cell, with θ still or while it learns; None if it is.

    The cell is None where a network has none of colrun's.
    """
    if family in ESTIMATORS:
        if ESTIMATORS[family].only_learns and not learns:
            return f"{family} is for networks that learn: {ESTIMATORS[family].only_learns}"
        reason = ESTIMATORS[family].undefined.get(cell or "")
    else:
        reason = dict(getattr(_plugin(family).load(), "undefined", {})).get(cell)
    return None if reason is None else f"{family} is not defined on the {cell} cell: {reason}"


def why_no_learner(family: str) -> str | None:
    """The reason why an estimator cannot learn online; None if it can."""
    why = ESTIMATORS[family].cannot_learn if family in ESTIMATORS else ""
    return f"{family} cannot learn online: {why}." if why else None


def refuse_undefined(names: Iterable[EstimatorName], cell: str | None) -> None:
    """An estimator that is not defined there is a user's mistake."""
    for name in names:
        reason = why_undefined(name.family, cell)
        if reason is not None:
            raise InvalidValueError(f"{reason}; leave it out, or choose another cell.")


def get_online(name: EstimatorName, draw: int = 0) -> "Online[Any]":
    """Its online form, from the table `ONLINE` of its module; `draw` is that of a stochastic one."""
    if name.family in ESTIMATORS:
        found = import_module(f"colrun.estimators.{ESTIMATORS[name.family].module}").ONLINE[name.family]
        return cast("Online[Any]", found(name, draw))
    from colrun.estimators.guarded import guarded_online

    return guarded_online(_plugin(name.family), name, draw)


def get_fast(family: str) -> "Form":
    """Its fast form, from the table `FAST` beside it; imports no torch, unless a plug-in does."""
    if family in ESTIMATORS:
        found: Form = import_module(f"colrun.estimators.{ESTIMATORS[family].module}_fast").FAST[family]
        return found
    from colrun.estimators.guarded_fast import guarded_fast

    return guarded_fast(_plugin(family))


def fast_forms(names: Iterable[EstimatorName]) -> "dict[EstimatorName, Asked]":
    """What the engine is asked for: of each name its fast form and window, one form per family."""
    names = list(names)
    forms = {family: get_fast(family) for family in {name.family: None for name in names}}
    return {name: (forms[name.family], name.window) for name in names}


def _plugin(family: str) -> Plugin:
    return known_plugins(ESTIMATORS)[choose(family, known_estimators(), "estimator")]
