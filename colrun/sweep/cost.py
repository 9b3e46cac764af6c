"""What a job costs: a count of operations by formula, turned into seconds by a rate. Imports no torch."""

from functools import lru_cache

from colrun.experiments import Experiment
from colrun.experiments.grids import Config
from colrun.networks.cells import CELLS

SECONDS_PER_OPERATION = 1.0e-10
"""Of the engine on one core of a 2023 server, overheads included; runs on this machine replace it (see `status`)."""
FIXED_SECONDS = 0.002
"""Per network, whatever its size: building, calls, rows."""


def job_seconds(experiment: Experiment, config: Config, estimators: tuple[str, ...]) -> float:
    """Estimated seconds of one job on one core."""
    if experiment.name != "alignment":
        return FIXED_SECONDS
    _, cell, C, W, _, _, dtype, T, inputs, *_ = config
    return _alignment_seconds(cell, C, W, T, inputs, dtype, len(estimators))


@lru_cache(maxsize=4096)
def _alignment_seconds(cell: str, C: int, W: int, T: int, inputs: int, dtype: str, estimators: int) -> float:
    weights = C * W * (inputs + W) + len(CELLS[cell].gates) * C * C * W
    # Forward, then for the truth and each estimator one product back through the layers and one for the gradient.
    operations = 2.0 * T * weights * (2 + 2 * (1 + estimators))
    operations += 30.0 * weights * (1 + estimators)  # metrics: elementwise passes over every gradient
    return FIXED_SECONDS + SECONDS_PER_OPERATION * operations * (2 if dtype == "float64" else 1)


REFERENCE_SECONDS = 0.0021
"""One 512 x 512 float32 matrix product on one core of the machine that the constants above were measured on."""


def machine_factor() -> float:
    """How much slower this machine is than that one, by a matrix product of a few milliseconds."""
    import time

    import numpy as np

    square = np.ones((512, 512), dtype=np.float32)
    times = []
    for _ in range(7):
        started = time.perf_counter()
        square @ square
        times.append(time.perf_counter() - started)
    return min(times) / REFERENCE_SECONDS
