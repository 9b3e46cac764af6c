"""Experiment `grouping`: as `alignment`, also on a dense RNN of the same size, where groups of weights are random."""

from colrun.estimators import parse_estimator
from colrun.experiments.alignment import job as alignment
from colrun.experiments.alignment.job import batch_of, rows_of
from colrun.experiments.declare import Row
from colrun.experiments.grouping import DENSE_RNN, GroupingConfig, dense
from colrun.networks.base import Network
from colrun.networks.dense import build_dense
from colrun.testbed import DTYPES, sequence


def run(config: GroupingConfig, seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:
    if config.network != DENSE_RNN:
        return alignment.run(config, seeds, estimators)
    dtype, batch = DTYPES[config.dtype], batch_of(config, seeds)
    networks: list[Network] = [build_dense(config.architecture, seed, dtype) for seed in batch]
    data = [sequence(seed, config.steps, config.inputs, dtype, config.task) for seed in batch]
    names = [parse_estimator(name) for name in estimators]
    found = dense.measure(networks, data, names, config.step_size)
    return rows_of(found, seeds, [None] * len(batch))
