"""What a run costs: seconds per step and lane, fitted by `python benchmarks/learners.py --prices`. Imports no torch."""

from typing import TYPE_CHECKING

from colrun.estimators import ESTIMATORS, parse_estimator
from colrun.networks.cells import CELLS
from colrun.networks.lateral import survival

if TYPE_CHECKING:
    from colrun.experiments.learning import LearningConfig

STEPWISE = 2e-3
"""Of an estimator without kernels, step by step in torch."""
PER_WEIGHT = {
    "frozen": 0.2e-9, "tbptt-block": 0.75e-9, "uoro": 1.9e-9, "nobacktrack": 2.1e-9, "master-user-groups": 9e-9,
}  # fmt: skip
USUAL = 1.25e-9
AGAIN, REPLAYED, REACHED, CROSSED = 0.19e-9, 0.55e-9, 0.33e-9, 1.8e-10
"""For each weight: a step back through a window, a step of it run again, a state that is followed; and for each number
of kf-rtrl's products."""
FLOAT64 = 1.9


def seconds(config: "LearningConfig", estimators: tuple[str, ...]) -> float:
    """Estimated seconds of one run of each on one core."""
    each = sum(per_step(config, name) for name in estimators)
    return config.steps * each * (FLOAT64 if config.dtype == "float64" else 1.0)


def per_step(config: "LearningConfig", estimator: str) -> float:
    name = parse_estimator(estimator)
    if name.family not in ESTIMATORS:
        return STEPWISE
    entry = CELLS[config.cell]
    weights, states = weights_of(config), config.columns * entry.states
    found = 5e-8 + weights * PER_WEIGHT.get(name.family, USUAL) * (1 if name.family == "frozen" else entry.states)
    if name.family == "tbptt":
        found += (name.window or 1) * weights * AGAIN
    elif name.family == "tbptt-replay":
        found += (name.window or 1) * weights * REPLAYED * entry.states
    elif name.family == "rtrl" or (name.family == "snap" and name.window != 1):
        connected = survival(config.lateral, config.columns) > 0
        found += weights * REACHED * (states if connected else entry.states) * (1 if name.family == "rtrl" else 2.5)
    elif name.family == "kf-rtrl":
        rows = 2 * config.columns * (config.width + len(entry.gates))
        found += 1e-6 + rows * states**2 * CROSSED
    return found


def weights_of(config: "LearningConfig") -> float:
    """|θ|, about."""
    C, W, inputs, gates = config.columns, config.width, config.inputs, len(CELLS[config.cell].gates)
    others = survival(config.lateral, C) * (C - 1)
    layers = C * W * (inputs + W + 3)
    return layers + gates * C * ((inputs if W == 0 else W * (1 + others)) + 2 + others)
