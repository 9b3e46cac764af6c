"""Experiment `alignment`: the metrics of every estimator against bptt, for one network on its own sequence."""

from collections.abc import Sequence

from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.engine.metrics import Metrics
from colrun.estimators import EstimatorName, fast_forms, parse_estimator
from colrun.experiments.declare import Row
from colrun.experiments.network import MeasuredConfig, batch_size
from colrun.quality import GROUP_METRICS, SPREAD


def run(config: MeasuredConfig, seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:
    forms = fast_forms([parse_estimator(name) for name in estimators])
    batch = Batch.draw(config.architecture, batch_of(config, seeds), config.steps, config.dtype, config.task)
    return rows_of(
        measure(batch, forms, config.step_size, config.draws, config.by_group), seeds, batch.lateral_weights()
    )


def batch_of(config: MeasuredConfig, seeds: list[int]) -> tuple[int, ...]:
    """Every seed has its place in its batch, and empty places hold a copy, so that the bits are always the same."""
    size = batch_size(config)
    places = {seed % size: seed for seed in seeds}
    return tuple(places.get(place, seeds[0]) for place in range(size))


def rows_of(
    found: dict[EstimatorName, Metrics], seeds: list[int], lateral_weights: Sequence[int | None]
) -> dict[int, list[Row]]:
    """The rows of each seed from the metrics of its whole batch."""
    size = len(lateral_weights)
    rows: dict[int, list[Row]] = {seed: [] for seed in seeds}
    for name, metrics in found.items():
        columns = {metric: values.tolist() for metric, values in metrics.items()}
        for seed in seeds:
            place = seed % size
            row: Row = dict.fromkeys((*SPREAD, *GROUP_METRICS))
            row |= {metric: _null_if_nan(values[place]) for metric, values in columns.items()}
            row |= {"compared": int(columns["compared"][place]), "lateral_weights": lateral_weights[place]}
            rows[seed].append({**name.columns, **row})
    return rows


def _null_if_nan(value: float) -> float | None:
    return None if value != value else value
