"""The axes of every experiment, and how values on them become the points of a grid. Imports no torch."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from colrun.experiments import axes
from colrun.experiments.axes import Value
from colrun.networks import lateral
from colrun.networks.cells import CELLS
from colrun.networks.readings import INITS, READINGS, SWITCHES, switches

Values = dict[str, list[Value]]
"""An axis and the values it takes in a grid, parsed."""
Config = tuple[Value, ...]
"""One value per axis, in the order of the experiment's axes: a job without its seed."""
Skip = Callable[[str], None]
"""Told the reason when a point of a grid cannot exist."""

DTYPE = axes.choice("dtype", ("float32", "float64"), "float32", "precision of the computation")
INPUTS = axes.integer("inputs", 50, "number of inputs")

NETWORK_AXES = (
    axes.choice("reading", tuple(READINGS), "text", "named set of switches"),
    axes.choice("cell", tuple(CELLS), "additive", "how a column's state is updated"),
    axes.integer("columns", 20, "C, number of columns"),
    axes.integer("width", 50, "W, units per layer of a column"),
    axes.lateral_level("lateral", 0.0, "lateral ratio: 10%, 0.1 or dense"),
    axes.step_size("step_size", "α of the learning w; none: w is fixed"),
    DTYPE,
    axes.integer("steps", 50, "T, length of the sequence"),
    INPUTS,
    axes.choice("init", INITS, None, "initial weights"),
    axes.switch("own_state", None, "columns see their own state"),
    axes.switch("state_bias", None, "a trainable bias in every p"),
    axes.switch("mask_own_recurrence", None, "R_ii is masked like a lateral weight"),
    axes.switch("mask_recurrence", None, "R_ij is masked"),
)
MEASURED_AXES = (
    axes.integer("draws", 1, "runs of each stochastic estimator, over which its metrics are averaged"),
    axes.switch("by_group", False, "metrics of every group of weights as well"),
)
ALIGNMENT_AXES = (*NETWORK_AXES, *MEASURED_AXES)

DENSE_RNN = "dense-rnn"
GROUPING_AXES = (
    *ALIGNMENT_AXES,
    axes.choice("network", ("columnar", DENSE_RNN), "columnar", "columns, or an ordinary RNN of the same size"),
)

DECAY_AXES = (
    axes.choice("cell", ("lstm", "gru"), "lstm", "torch.nn.LSTM or torch.nn.GRU"),
    axes.integer("hidden", 50, "hidden units"),
    axes.switch("bias", False, "with biases"),
    DTYPE,
    axes.integer("steps", 20, "steps from a state of ones"),
    INPUTS,
)


def expand_alignment(values: Values, skip: Skip) -> Iterator[Config]:
    """Networks, and what is measured of them."""
    measured = list(itertools.product(*(values[axis.name] for axis in MEASURED_AXES)))
    for network in expand_networks(values, skip):
        for each in measured:
            yield (*network, *each)


def expand_networks(values: Values, skip: Skip) -> Iterator[Config]:
    """Levels above C-1 are skipped with the reason, equal levels are one, and the reading completes the switches."""
    for reading, columns in itertools.product(values["reading"], values["columns"]):
        levels = _levels(values["lateral"], columns, skip)
        settings: dict[Config, None] = {}
        for alone in itertools.product(*(values[name] for name in SWITCHES)):
            complete = switches(str(reading), **dict(zip(SWITCHES, alone, strict=True)))  # type: ignore[arg-type]
            settings[tuple(getattr(complete, name) for name in SWITCHES)] = None
        before = itertools.product([reading], values["cell"], [columns], values["width"])
        after = itertools.product(*(values[name] for name in ("step_size", "dtype", "steps", "inputs")))
        for first, level, middle, setting in itertools.product(before, levels, after, settings):
            yield (*first, level, *middle, *setting)


def expand_grouping(values: Values, skip: Skip) -> Iterator[Config]:
    """As alignment; a dense RNN masks nothing, so it stands at the level `dense` only."""
    for config in expand_alignment(values, skip):
        columns, level = config[2], config[4]
        assert isinstance(columns, int)
        for network in values["network"]:
            if network == DENSE_RNN and level != columns - 1:
                skip(f"a dense RNN has no lateral ratio {level:g}: it stands at level dense only")
            else:
                yield (*config, network)


def _levels(wanted: list[Value], columns: Value, skip: Skip) -> list[float]:
    assert isinstance(columns, int)
    levels: dict[float, None] = {}
    for level in wanted:
        ratio = float(columns - 1) if level == lateral.DENSE else level
        assert isinstance(ratio, float)
        reason = lateral.too_high(ratio, columns)
        if reason:
            skip(reason)
        else:
            levels[ratio] = None
    return list(levels)


def expand_plain(names: tuple[str, ...]) -> Callable[[Values, Skip], Iterator[Config]]:
    """Every combination, where each exists."""

    def expand(values: Values, skip: Skip) -> Iterator[Config]:  # noqa: ARG001
        return itertools.product(*(values[name] for name in names))

    return expand


BLOCK_SIZES = (100, 50, 25, 20, 10, 5, 4, 2, 1)  # divisors of 100, so that the usual seeds 0:100 leave no partial block
NUMBERS_PER_BLOCK = 5_000  # columns x width of all networks together: what goes through the products at once


def alignment_block_size(config: dict[str, Any]) -> int:
    """As many networks as stay in cache, by C and W only: the more, the less each pays for the calls in between."""
    most = NUMBERS_PER_BLOCK // (config["columns"] * config["width"])
    return next((size for size in BLOCK_SIZES if size <= most), 1)
