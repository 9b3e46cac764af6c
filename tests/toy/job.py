"""One call computes jobs of several rates."""

import time

from colrun.experiments.declare import Row
from tests.toy import ToyConfig

CALLS: list[list[tuple[float, int]]] = []
"""The rates and seeds of every call."""
BROKEN: set[tuple[float, int]] = set()
"""Jobs that fail."""


def run_together(jobs: list[tuple[ToyConfig, int]], estimators: list[str]) -> dict[tuple[ToyConfig, int], list[Row]]:
    assert estimators == []
    CALLS.append([(config.rate, seed) for config, seed in jobs])
    for config, seed in jobs:
        if (config.rate, seed) in BROKEN:
            raise ZeroDivisionError(f"seed {seed}")
    return {(config, seed): _rows(config, seed) for config, seed in jobs}


def _rows(config: ToyConfig, seed: int) -> list[Row]:
    rows, value = [], float(config.start)
    for step in range(config.steps):
        value = (1 - config.rate) * value + seed
        rows.append({"step": step, "value": value, "took": time.perf_counter(), "diverged": False, "colour": "green"})
    return rows
