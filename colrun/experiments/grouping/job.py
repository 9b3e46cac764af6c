"""Experiment `grouping`: as `alignment`, also on a dense RNN of the same size, where groups of weights are random."""

from typing import Any

import pyarrow as pa

from colrun import any_network
from colrun.estimators import parse_estimator
from colrun.experiments import Row
from colrun.experiments.alignment import job as alignment
from colrun.experiments.alignment.job import architecture_of, block_of, rows_of
from colrun.experiments.grids import DENSE_RNN
from colrun.networks.base import Network
from colrun.networks.dense import build_dense
from colrun.testbed import DTYPES, sequence

SCHEMA = pa.schema([*alignment.SCHEMA, pa.field("network", pa.string())])
KEY = alignment.KEY


def run(config: dict[str, Any], seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:
    """One block, as in `alignment`."""
    if config["network"] != DENSE_RNN:
        return alignment.run(config, seeds, estimators)
    dtype, block = DTYPES[config["dtype"]], block_of(config, seeds)
    networks: list[Network] = [build_dense(architecture_of(config), seed, dtype) for seed in block]
    data = [sequence(seed, config["steps"], config["inputs"], dtype) for seed in block]
    names = [parse_estimator(name) for name in estimators]
    found = any_network.measure(networks, data, names, config["step_size"])
    return rows_of(found, seeds, [None] * len(block))
