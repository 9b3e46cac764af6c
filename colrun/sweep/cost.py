"""What a job costs: counts of what the engine does, each with a price in seconds. Imports no torch.

The prices were fitted by `python -m colrun.bench.calibrate` with all cores of that machine at work, as in a sweep.
Another machine is compared with it by a few matrix products (`machine_factor`), and once a sweep has results, `status`
and `--dry-run` go by what those took.
"""

from functools import cache, lru_cache
from typing import cast

from colrun.estimators import known_estimators, parse_estimator
from colrun.experiments import Experiment
from colrun.experiments.grids import ALIGNMENT_AXES, Config, alignment_block_size
from colrun.networks.cells import CELLS
from colrun.networks.lateral import FEW, survival

PRICES: dict[str, float] = {
    "calls": 4.1e-4,
    "products": 9.0e-12,
    "whole": 2.6e-9,
    "steps": 6.2e-11,
    "elements": 7.4e-10,
    "sums": 2.9e-11,
    "jacobian": 1.9e-9,
    "credits": 1.3e-10,
    "rows": 1.3e-5,
}
"""Seconds for each unit of `counts`, in float32: as fitted, times 1.08, by which whole sweeps took longer."""
GROUPS_SECONDS = 5.0e-11
"""For each number that master-user-groups goes through: one backward pass per state over all steps."""
DECAY_SECONDS = 0.003
DRAWS = [axis.name for axis in ALIGNMENT_AXES].index("draws")
PASS_SECONDS, GATE_SECONDS, OPERATION_SECONDS = 1.35e-3, 8e-4, 5.2e-10
"""Of an online form, counted and timed: for one pass over the network, each further gate in it, each operation."""
PASSES = {"rflo": 3, "rflo-symmetric": 3, "uoro": 6, "nobacktrack": 6, "kf-rtrl": 6}
"""How many passes over the network a step takes, or as much as so many; 2 where nothing is said."""
FLOAT64 = 1.9
"""How much longer float64 takes."""


def job_seconds(experiment: Experiment, config: Config, estimators: tuple[str, ...]) -> float:
    """Estimated seconds of one job on one core."""
    if experiment.name == "decay":
        return DECAY_SECONDS
    if experiment.name == "cost":
        return _online_seconds(config[1:5] + config[7:9], estimators)
    settings = config[1:5] + config[6:9] + config[10:11]
    noisy, draws = _stochastic(estimators), cast(int, config[DRAWS])
    # Every draw, and the mean of several, is a gradient like that of a deterministic estimator.
    gradients = _weight(estimators) + len(noisy) * (draws - 1 + (draws > 1))
    seconds = _alignment_seconds(settings, gradients, _longest(estimators))
    seconds += sum(_noise_seconds(settings, family, config[5] is not None, draws) for family in noisy)
    return seconds + _groups_seconds(config[1:5] + config[7:9]) if GROUPS in estimators else seconds


@cache
def _weight(estimators: tuple[str, ...]) -> float:
    """How many estimators with a compiled credit would be as much work."""
    known = known_estimators()
    return sum(known[parse_estimator(name).family].weight for name in estimators)


@cache
def _stochastic(estimators: tuple[str, ...]) -> tuple[str, ...]:
    families = [parse_estimator(name).family for name in estimators]
    return tuple(family for family in families if known_estimators()[family].stochastic)


@cache
def _longest(estimators: tuple[str, ...]) -> int:
    """The largest sliding window."""
    names = [parse_estimator(name) for name in estimators]
    return max((name.window or 0 for name in names if name.family == "tbptt"), default=0)


GROUPS = "master-user-groups"


@lru_cache(maxsize=4096)
def _groups_seconds(values: Config) -> float:
    _, C, _, _, T, _ = cast(tuple[str, int, int, float, int, int], values)
    return GROUPS_SECONDS * C * T * 6 * weights(values)


@lru_cache(maxsize=4096)
def _online_seconds(values: Config, estimators: tuple[str, ...]) -> float:
    """Backward passes per step, and how often each weight is gone through, warm-up included."""
    cell, C, _, _, T, _ = cast(tuple[str, int, int, float, int, int], values)
    one_pass = PASS_SECONDS + GATE_SECONDS * (len(CELLS[cell].gates) - 1)
    seconds = 0.0
    for name in map(parse_estimator, estimators):
        window = name.window or 1
        passes = {"tbptt": 1 + window, GROUPS: 1 + C, "snap": 2 + C}.get(name.family, PASSES.get(name.family, 2))
        operations = 6 * passes + (2 * C * C + 7 * C if name.family == "rtrl" else 0)
        steps = T + (name.window or 0)
        seconds += steps * (one_pass * passes + OPERATION_SECONDS * operations * weights(values))
    return seconds


def weights(values: Config) -> float:
    """|θ|, about, of (cell, C, W, lateral, steps, inputs)."""
    cell, C, W, lateral, _, inputs = cast(tuple[str, int, int, float, int, int], values)
    return C * W * (inputs + W + 3 + len(CELLS[cell].gates) * (1 + lateral))


@lru_cache(maxsize=4096)
def _alignment_seconds(values: Config, estimators: float, longest: int) -> float:
    cell, C, W, lateral, dtype, T, inputs, own_state = cast(tuple[str, int, int, float, str, int, int, bool], values)
    found = counts(cell, C, W, survival(lateral, C), T, inputs, own_state, estimators, longest)
    seconds = sum(PRICES[name] * count for name, count in found.items())
    return seconds * (FLOAT64 if dtype == "float64" else 1.0)


@lru_cache(maxsize=4096)
def _noise_seconds(values: Config, family: str, learns: bool, draws: int) -> float:
    """What a stochastic estimator adds to its gradients, roughly: within a factor of two at C·W from 25 to 10,000."""
    cell, C, W, lateral, dtype, T, _, _ = cast(tuple[str, int, int, float, str, int, int, bool], values)
    entry = CELLS[cell]
    G, P = len(entry.gates), entry.states * C
    Q = P + (C if learns else 0)
    block = alignment_block_size({"cell": cell, "columns": C, "width": W})
    p = survival(lateral, C)
    inputs = T * T * C * W * (G * C if FEW <= p < 1 else 2 + G)  # inner products between steps, once for all draws
    if family == "kf-rtrl":
        rows = 2 * C * (W + G)
        linked = 1 if p >= FEW else 0.5
        numbers = inputs + T * P * C * W * W + draws * T * rows * Q * (4 + linked * Q)
        seconds = 0.012 / block + draws * 4.6e-4 + numbers * 9.2e-11
    else:
        numbers = inputs + draws * T * C * (2 * T * W + W * W + G * C * W)
        elements = draws * T * C * (4 * W + T * (2 + 2 * G))
        seconds = 0.023 / block + draws * 2.3e-4 + numbers * 4.6e-11 + elements * 1.7e-9
    return seconds * (FLOAT64 if dtype == "float64" else 1.0)


def counts(
    cell: str, C: int, W: int, p: float, T: int, inputs: int, own_state: bool, estimators: float, longest: int
) -> dict[str, float]:
    """Per network: what the engine does, by kind of work."""
    entry = CELLS[cell]
    G, P, gradients = len(entry.gates), entry.states * C, estimators + 1
    stateful = own_state and entry.recurrent
    listed = p < FEW
    lateral = G * C * C * W * (p if listed else 1.0)
    block = alignment_block_size({"cell": cell, "columns": C, "width": W})
    products = float(gradients * (2 * C * W * W + C * W * inputs))
    if stateful:
        products += C * W * W  # the tangents; without own state forward products are shared by all levels
    if not listed:
        products += (2 * gradients + 1) * lateral
    return {
        "calls": (4.0 + gradients) / block,
        "products": 2.0 * T * products,
        "whole": 0.0 if listed else lateral * (3.0 + 2.0 * gradients),  # passes over all of U
        "steps": 2.0 * T * (C * W * W + lateral) if stateful else 0.0,
        "elements": float(T * C * W * gradients * (1 + G) + (T * lateral * gradients if listed else 0.0)),
        "sums": float(estimators * (C * W * (inputs + W + 2) + lateral)),
        "jacobian": float(T * P * P) if entry.recurrent else 0.0,
        "credits": float(2 * T * P * P * (1 + min(longest, T) / 2) if entry.recurrent else 2 * T * P * (longest + 2)),
        "rows": float(estimators),
    }


REFERENCE_SECONDS = 0.0026
"""512 float32 products of 64 x 64 matrices on one core of the machine that the prices are for."""


def machine_factor() -> float:
    """How much slower this machine is than that one, by some milliseconds of matrix products.

    Small ones, as a library spreads large ones over all cores, where they wait for each other on a busy machine.
    """
    import time

    import numpy as np

    squares = np.ones((512, 64, 64), dtype=np.float32)
    times = []
    for _ in range(7):
        started = time.thread_time()  # not by the clock: a busy machine is no slower one
        squares @ squares
        times.append(time.thread_time() - started)
    return min(times) / REFERENCE_SECONDS
