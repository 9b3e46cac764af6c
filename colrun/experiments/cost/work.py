"""What a job of `cost` costs: backward passes per step, and how often each weight is gone through."""

from functools import lru_cache

from colrun.estimators import parse_estimator
from colrun.experiments.network import NetworkConfig, weights
from colrun.networks.cells import CELLS

PASS_SECONDS, GATE_SECONDS, OPERATION_SECONDS = 1.35e-3, 8e-4, 5.2e-10
"""Of an online form, counted and timed: for one pass over the network, each further gate in it, each operation."""
PASSES = {"rflo": 3, "rflo-symmetric": 3, "uoro": 6, "nobacktrack": 6, "kf-rtrl": 6}
"""How many passes over the network a step takes, or as much as so many; 2 where nothing is said."""


@lru_cache(maxsize=4096)
def seconds(config: NetworkConfig, estimators: tuple[str, ...]) -> float:
    """Estimated seconds of one job on one core, warm-up included."""
    C = config.columns
    one_pass = PASS_SECONDS + GATE_SECONDS * (len(CELLS[config.cell].gates) - 1)
    found = 0.0
    for name in map(parse_estimator, estimators):
        window = name.window or 1
        several = {"tbptt": 1 + window, "master-user-groups": 1 + C, "snap": 2 + C}
        passes = several.get(name.family, PASSES.get(name.family, 2))
        operations = 6 * passes + (2 * C * C + 7 * C if name.family == "rtrl" else 0)
        steps = config.steps + (name.window or 0)
        found += steps * (one_pass * passes + OPERATION_SECONDS * operations * weights(config))
    return found
