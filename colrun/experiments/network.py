"""What experiments on columnar networks share: axes, grids, columns of rows, and how many networks are a batch."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from colrun.estimators import parse_estimator, why_undefined
from colrun.experiments import axes
from colrun.experiments.axes import Value
from colrun.experiments.declare import Skip, Values, flag, real, text, whole
from colrun.networks import lateral
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.readings import INITS, READINGS, SWITCHES, switches

DTYPES = ("float32", "float64")


@dataclass(frozen=True)
class NetworkConfig:
    """A columnar network on a task, without its seed."""

    reading: str = axes.choice(tuple(READINGS), "text", "named set of switches")
    cell: str = axes.choice(tuple(CELLS), "additive", "how a column's state is updated")
    columns: int = axes.integer(20, "C, number of columns")
    width: int = axes.integer(50, "W, units per layer of a column")
    lateral: float = axes.lateral_level(0.0, "lateral ratio: 10%, 0.1 or dense")
    step_size: float | None = axes.step_size("α of the learning w; none: w is fixed")
    dtype: str = axes.choice(DTYPES, "float32", "precision of the computation")
    steps: int = axes.integer(50, "T, length of the sequence")
    inputs: int = axes.integer(50, "number of inputs")
    init: str = axes.choice(INITS, None, "initial weights")
    own_state: bool = axes.switch(None, "columns see their own state")
    state_bias: bool = axes.switch(None, "a trainable bias in every p")
    mask_own_recurrence: bool = axes.switch(None, "R_ii is masked like a lateral weight")
    mask_recurrence: bool = axes.switch(None, "R_ij is masked")
    task: str = axes.choice(("random",), "random", "what the network is shown", introduced="random")

    @property
    def architecture(self) -> Architecture:
        names = ("cell", "columns", "width", "lateral", "inputs", "reading", *SWITCHES)
        return Architecture.of(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class MeasuredConfig(NetworkConfig):
    """And what is measured of it."""

    draws: int = axes.integer(1, "runs of each stochastic estimator, over which its metrics are averaged")
    by_group: bool = axes.switch(False, "metrics of every group of weights as well")


SHAPE = (*text("reading", "cell"), *whole("columns", "width"), *real("lateral", "step_size"), *whole("seed"))
"""Columns of rows that come first; `SETTING` stands further back."""
SETTING = (*text("dtype"), *whole("steps", "inputs"), *text("init"), *flag(*SWITCHES[1:]))

Point = dict[str, Any]
"""Values by axis."""


def expand_networks(values: Values, skip: Skip) -> Iterator[Point]:
    """Levels above C-1 are skipped with the reason, equal levels are one, and the reading completes the switches."""
    for reading, columns in itertools.product(values["reading"], values["columns"]):
        levels = _levels(values["lateral"], columns, skip)
        settings: dict[tuple[Value, ...], None] = {}
        for alone in itertools.product(*(values[name] for name in SWITCHES)):
            complete = switches(str(reading), **dict(zip(SWITCHES, alone, strict=True)))  # type: ignore[arg-type]
            settings[tuple(getattr(complete, name) for name in SWITCHES)] = None
        rest = itertools.product(*(values[name] for name in _REST))
        networks = itertools.product(values["cell"], values["width"], levels, rest, settings, values["task"])
        for cell, width, level, others, setting, task in networks:
            point = {"reading": reading, "cell": cell, "columns": columns, "width": width, "lateral": level}
            point |= zip(_REST, others, strict=True)
            point |= zip(SWITCHES, setting, strict=True)
            yield point | {"task": task}


_REST = ("step_size", "dtype", "steps", "inputs")


def expand_measured(values: Values, skip: Skip) -> Iterator[Point]:
    for network in expand_networks(values, skip):
        for draws, by_group in itertools.product(values["draws"], values["by_group"]):
            yield {**network, "draws": draws, "by_group": by_group}


def _levels(wanted: list[Value], columns: Value, skip: Skip) -> list[Value]:
    assert isinstance(columns, int)
    levels: dict[Value, None] = {}
    for level in wanted:
        ratio = float(columns - 1) if level == lateral.DENSE else level
        assert isinstance(ratio, float)
        reason = lateral.too_high(ratio, columns)
        if reason:
            skip(reason)
        else:
            levels[ratio] = None
    return list(levels)


def undefined(config: NetworkConfig, estimator: str) -> str | None:
    """By the cell."""
    return _undefined(estimator, config.cell)


@lru_cache(maxsize=256)
def _undefined(estimator: str, cell: str) -> str | None:
    return why_undefined(parse_estimator(estimator).family, cell)


BATCH_SIZES = (100, 50, 25, 20, 10, 5, 4, 2, 1)  # divisors of 100, so that the usual seeds 0:100 leave no partial batch
NUMBERS_PER_BATCH = 5_000  # columns x width of all networks together: what goes through the products at once


def networks_per_batch(columns: int, width: int) -> int:
    """As many networks as stay in cache, by C and W only: the more, the less each pays for the calls in between."""
    most = NUMBERS_PER_BATCH // (columns * width)
    return next((size for size in BATCH_SIZES if size <= most), 1)


def batch_size(config: NetworkConfig) -> int:
    return networks_per_batch(config.columns, config.width)


def weights(config: NetworkConfig) -> float:
    """|θ|, about."""
    gates = len(CELLS[config.cell].gates)
    return config.columns * config.width * (config.inputs + config.width + 3 + gates * (1 + config.lateral))
