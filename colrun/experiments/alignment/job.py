"""Experiment `alignment`: the metrics of every estimator against bptt, for one network on its own sequence."""

from typing import Any

import pyarrow as pa

from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.engine.metrics import GROUP_METRICS, METRICS, SPREAD, Metrics
from colrun.estimators import EstimatorName, fast_forms, parse_estimator
from colrun.experiments import Row
from colrun.experiments.grids import alignment_block_size
from colrun.networks.architecture import Architecture
from colrun.networks.readings import SWITCHES

SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("reading", "cell")),
        *(pa.field(name, pa.int64()) for name in ("columns", "width")),
        *(pa.field(name, pa.float64()) for name in ("lateral", "step_size")),
        pa.field("seed", pa.int64()),
        pa.field("estimator", pa.string()),
        pa.field("window", pa.int64()),
        *(pa.field(name, pa.float64()) for name in METRICS[:-1]),
        *(pa.field(name, pa.int64()) for name in ("compared", "lateral_weights")),
        pa.field("max_error", pa.float64()),
        pa.field("diverged", pa.bool_()),
        pa.field("dtype", pa.string()),
        *(pa.field(name, pa.int64()) for name in ("steps", "inputs")),
        pa.field("init", pa.string()),
        *(pa.field(name, pa.bool_()) for name in SWITCHES[1:]),
        pa.field("draws", pa.int64()),
        *(pa.field(name, pa.float64()) for name in SPREAD),
        pa.field("by_group", pa.bool_()),
        *(pa.field(name, pa.float64()) for name in GROUP_METRICS),  # null unless asked for
        pa.field("plugin", pa.string()),  # the source of an estimator that is not colrun's own
    ]
)
KEY = ("estimator", "window")


def run(config: dict[str, Any], seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:
    """One block."""
    block = block_of(config, seeds)
    forms = fast_forms([parse_estimator(name) for name in estimators])
    batch = Batch.draw(architecture_of(config), block, config["steps"], config["dtype"])
    return rows_of(
        measure(batch, forms, config["step_size"], config["draws"], config["by_group"]), seeds, batch.lateral_weights()
    )


def block_of(config: dict[str, Any], seeds: list[int]) -> tuple[int, ...]:
    """Every seed has its place in its block, and empty places hold a copy, so that the bits are always the same."""
    size = alignment_block_size(config)
    places = {seed % size: seed for seed in seeds}
    return tuple(places.get(place, seeds[0]) for place in range(size))


def rows_of(
    found: dict[EstimatorName, Metrics], seeds: list[int], lateral_weights: list[int] | list[None]
) -> dict[int, list[Row]]:
    """The rows of each seed from the metrics of its whole block."""
    size = len(lateral_weights)
    rows: dict[int, list[Row]] = {seed: [] for seed in seeds}
    for name, metrics in found.items():
        columns = {metric: values.tolist() for metric, values in metrics.items()}
        for seed in seeds:
            place = seed % size
            row: Row = dict.fromkeys((*SPREAD, *GROUP_METRICS))
            row |= {metric: _null_if_nan(values[place]) for metric, values in columns.items()}
            row |= {"compared": int(columns["compared"][place]), "lateral_weights": lateral_weights[place]}
            rows[seed].append({"estimator": name.family, "window": name.window, **row, "plugin": name.source})
    return rows


def architecture_of(config: dict[str, Any]) -> Architecture:
    """What the axes say of the network."""
    return Architecture.of(
        **{axis: config[axis] for axis in ("cell", "columns", "width", "lateral", "inputs", "reading", *SWITCHES)}
    )


def _null_if_nan(value: float) -> float | None:
    return None if value != value else value
