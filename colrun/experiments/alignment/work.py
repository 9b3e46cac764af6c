"""What a job costs: counts of what the engine does, each with a price in seconds. Imports no torch.

The prices were fitted by `python -m colrun.bench.calibrate` with all cores of that machine at work, as in a sweep.
"""

from functools import cache, lru_cache

from colrun.estimators import known_estimators, parse_estimator
from colrun.experiments.network import MeasuredConfig, networks_per_batch, weights
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
GROUPS = "master-user-groups"
GROUPS_SECONDS = 1.2e-11
"""For each number that master-user-groups goes through: one backward pass per state over all steps."""
FLOAT64 = 1.9
"""How much longer float64 takes."""


@lru_cache(maxsize=4096)
def seconds(config: MeasuredConfig, estimators: tuple[str, ...]) -> float:
    """Estimated seconds of one job on one core."""
    noisy, draws = _stochastic(estimators), config.draws
    # Every draw, and the mean of several, is a gradient like that of a deterministic estimator.
    gradients = _weight(estimators) + len(noisy) * (draws - 1 + (draws > 1))
    found = sum(PRICES[name] * count for name, count in counts(config, gradients, _longest(estimators)).items())
    found *= FLOAT64 if config.dtype == "float64" else 1.0
    found += sum(_noise_seconds(config, family) for family in noisy)
    if GROUPS in estimators:
        found += GROUPS_SECONDS * config.columns * config.steps * 6 * weights(config)
    return found


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


def _noise_seconds(config: MeasuredConfig, family: str) -> float:
    """What a stochastic estimator adds to its gradients, roughly: within a factor of two at C·W from 25 to 10,000."""
    C, W, T, draws, entry = config.columns, config.width, config.steps, config.draws, CELLS[config.cell]
    G, P = len(entry.gates), entry.states * C
    Q = P + (C if config.step_size is not None else 0)
    batch = networks_per_batch(C, W)
    p = survival(config.lateral, C)
    inputs = T * T * C * W * (G * C if FEW <= p < 1 else 2 + G)  # inner products between steps, once for all draws
    if family == "kf-rtrl":
        rows = 2 * C * (W + G)
        linked = 1 if p >= FEW else 0.5
        numbers = inputs + T * P * C * W * W + draws * T * rows * Q * (4 + linked * Q)
        found = 0.012 / batch + draws * 4.6e-4 + numbers * 9.2e-11
    else:
        numbers = inputs + draws * T * C * (2 * T * W + W * W + G * C * W)
        elements = draws * T * C * (4 * W + T * (2 + 2 * G))
        found = 0.011 / batch + draws * 1.1e-4 + numbers * 2.2e-11 + elements * 8.0e-10
    return found * (FLOAT64 if config.dtype == "float64" else 1.0)


def counts(config: MeasuredConfig, estimators: float, longest: int) -> dict[str, float]:
    """Per network: what the engine does, by kind of work, for so many estimators and the longest window."""
    C, W, T, inputs, entry = config.columns, config.width, config.steps, config.inputs, CELLS[config.cell]
    p = survival(config.lateral, C)
    G, P, gradients = len(entry.gates), entry.states * C, estimators + 1
    stateful = config.own_state and entry.recurrent
    listed = p < FEW
    lateral = G * C * C * W * (p if listed else 1.0)
    products = float(gradients * (2 * C * W * W + C * W * inputs))
    if stateful:
        products += C * W * W  # the tangents; without own state forward products are shared by all levels
    if not listed:
        products += (2 * gradients + 1) * lateral
    return {
        "calls": (4.0 + gradients) / networks_per_batch(C, W),
        "products": 2.0 * T * products,
        "whole": 0.0 if listed else lateral * (3.0 + 2.0 * gradients),  # passes over all of U
        "steps": 2.0 * T * (C * W * W + lateral) if stateful else 0.0,
        "elements": float(T * C * W * gradients * (1 + G) + (T * lateral * gradients if listed else 0.0)),
        "sums": float(estimators * (C * W * (inputs + W + 2) + lateral)),
        "jacobian": float(T * P * P) if entry.recurrent else 0.0,
        "credits": float(2 * T * P * P * (1 + min(longest, T) / 2) if entry.recurrent else 2 * T * P * (longest + 2)),
        "rows": float(estimators),
    }
