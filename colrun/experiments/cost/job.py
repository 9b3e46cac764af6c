"""Experiment `cost`: what one step of an estimator's online form costs, counted and timed.

Where the estimator takes them, lateral weights are lists (networks/listed.py), so that what is counted is work on
weights that exist. After a warm-up of as many steps as the estimator's window is long, T steps are taken and the
gradient is asked for; operations and seconds are those of all this, divided by T: the share of a step once windows are
full, the backward passes of bptt and of unfinished blocks included. Memory is the most that is held after any step,
without the weights and the gradient's sum, which are the same for all.
"""

import gc
import time

from colrun.estimators import EstimatorName, get_estimator, parse_estimator
from colrun.estimators.base import Estimator, Online
from colrun.experiments.declare import Row
from colrun.experiments.network import NetworkConfig
from colrun.meter import ARITHMETIC, KINDS, Meter, tensors_of
from colrun.networks.columnar import ColumnarNetwork, build
from colrun.networks.listed import list_laterals
from colrun.testbed import DTYPES, Sequence, sequence


def run(config: NetworkConfig, seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:
    """One network after another, and on each one estimator after another."""
    names = [parse_estimator(name) for name in estimators]
    return {seed: [_run(config, seed, name) for name in names] for seed in seeds}


def _run(config: NetworkConfig, seed: int, name: EstimatorName) -> Row:
    dtype, T, alpha = DTYPES[config.dtype], config.steps, config.step_size
    network = build(config.architecture, seed, dtype)
    estimator = get_estimator(name.family)
    if estimator.takes_lists and network.architecture.survival < 1:  # where every weight exists a list saves nothing
        network = list_laterals(network)
    warm = name.window or 0
    data = sequence(seed, warm + T, config.inputs, dtype, config.task)
    counted = _count(estimator.online(network, alpha, name.window), data, warm)
    return {
        **name.columns,
        **counted,
        "seconds": _time(estimator, network, alpha, name.window, data, warm),
        "parameters": network.parameter_count,
        "states": network.states * network.columns,
        "lateral_weights": network.lateral_weights,
        "diverged": False,
    }


def _count(online: Online, data: Sequence, warm: int) -> Row:
    """Operations per step by kind, and memory."""
    known = [data.x, data.y, *tensors_of(online.network), *online.theta.values(), *online.total.values()]
    memory = 0
    gc.freeze()  # what is there already is no garbage, and looking through it takes long
    try:
        with Meter() as meter:
            for t, (x_t, y_t) in enumerate(zip(data.x, data.y, strict=True)):
                if t == warm:
                    meter.counts.update(dict.fromkeys(KINDS, 0))
                online.step(x_t, y_t)
                if meter.held(online, without=known) > memory:
                    gc.collect()
                    memory = max(memory, meter.held(online, without=known))
            online.gradient()
    finally:
        gc.unfreeze()
    counts = {kind: count / (data.steps - warm) for kind, count in meter.counts.items()}
    return {"operations": sum(counts[kind] for kind in ARITHMETIC), **counts, "memory": memory}


def _time(
    estimator: Estimator, network: ColumnarNetwork, alpha: float | None, window: int | None, data: Sequence, warm: int
) -> float:
    """CPU seconds per step, without the meter."""
    online = estimator.online(network, alpha, window)
    started = time.process_time()
    for t, (x_t, y_t) in enumerate(zip(data.x, data.y, strict=True)):
        if t == warm:
            started = time.process_time()
        online.step(x_t, y_t)
    online.gradient()
    return (time.process_time() - started) / (data.steps - warm)
