"""What a job of `cost` costs: passes over the network, forward or back, and how often each weight is gone through."""

from functools import lru_cache

from colrun.estimators import parse_estimator
from colrun.experiments.network import NetworkConfig, weights
from colrun.networks.cells import CELLS

PASS_SECONDS, GATE_SECONDS, OPERATION_SECONDS = 2.1e-3, 6e-4, 2e-10
"""Of an online form, counted: for one pass over the network, each further gate in it, each operation."""
TIMED_SECONDS = 0.025
"""For the time of a steady estimator; its steps are counted twice, and twice or more often timed."""
PASSES = {"rflo": 3, "rflo-symmetric": 3, "uoro": 6, "nobacktrack": 6, "kf-rtrl": 6}
"""How many passes over the network a step takes, or as much as so many; 2 where nothing is said."""
UNSTEADY = ("bptt", "tbptt-block")
"""All of whose steps are taken."""


@lru_cache(maxsize=4096)
def seconds(config: NetworkConfig, estimators: tuple[str, ...]) -> float:
    """Estimated seconds of one job on one core, warm-up included."""
    C = config.columns
    one_pass = PASS_SECONDS + GATE_SECONDS * (len(CELLS[config.cell].gates) - 1)
    found = 0.0
    for name in map(parse_estimator, estimators):
        window = name.window or 0
        several = {"tbptt": 1 + window, "master-user-groups": 1 + C, "snap": 2 + C}
        passes = several.get(name.family, PASSES.get(name.family, 2))
        operations = 6 * passes + (2 * C * C + 7 * C if name.family == "rtrl" else 0)
        steady = name.family not in UNSTEADY
        steps = 2 if steady else window + config.steps
        warm = 0 if not steady else window if config.step_size is None else window * passes / 2
        found += one_pass * (steps * passes + warm) + steady * TIMED_SECONDS
        found += 2 * steps * OPERATION_SECONDS * operations * weights(config)
    return found
