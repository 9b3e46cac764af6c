"""Experiment `cost`: what one step of an estimator's online form costs, counted and timed.

Where the estimator takes them, lateral weights are lists (networks/listed.py), so that what is counted is work on
weights that exist. After a warm-up of as many steps as the estimator's window is long, T steps are taken with θ still,
their gradients are added up, and what is open is finished; operations and seconds are those of all this, divided by T:
the share of a step once windows are full, the backward passes of bptt and of unfinished blocks included. Memory is the
most that is held after any step, without the weights and the gradient's sum, which are the same for all.
"""

import gc
import time
from typing import Any

from colrun.estimators import EstimatorName, get_online, parse_estimator
from colrun.estimators.online import Online, add, zeros
from colrun.experiments.cost.meter import ARITHMETIC, KINDS, Meter, tensors_of
from colrun.experiments.declare import Row
from colrun.experiments.network import NetworkConfig
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
    online = get_online(name)
    if online.takes_lists and network.architecture.survival < 1:  # where every weight exists a list saves nothing
        network = list_laterals(network)
    warm = name.window or 0
    data = sequence(seed, warm + T, config.inputs, dtype, config.task)
    return {
        **name.columns,
        **_count(online, network, alpha, data, warm),
        "seconds": _time(online, network, alpha, data, warm),
        "parameters": network.parameter_count,
        "states": network.states * network.columns,
        "lateral_weights": network.lateral_weights,
        "diverged": False,
    }


def _count(online: Online[Any], network: ColumnarNetwork, alpha: float | None, data: Sequence, warm: int) -> Row:
    """Operations per step by kind, and memory."""
    memory, total = online.init(network, alpha), zeros(network.theta)
    known = [*tensors_of([data, network, memory.readout.network, memory.weights()]), *total.values()]
    most = 0
    gc.freeze()  # what is there already is no garbage, and looking through it takes long
    try:
        with Meter() as meter:
            for t, (x_t, y_t) in enumerate(zip(data.x, data.y, strict=True)):
                if t == warm:
                    meter.counts.update(dict.fromkeys(KINDS, 0))
                memory, step = online.step(memory, network.theta, x_t, y_t)
                add(total, step.gradient)
                del step
                if meter.held(memory, without=known) > most:
                    gc.collect()
                    most = max(most, meter.held(memory, without=known))
            add(total, online.finish(memory))
    finally:
        gc.unfreeze()
    counts = {kind: count / (data.steps - warm) for kind, count in meter.counts.items()}
    return {"operations": sum(counts[kind] for kind in ARITHMETIC), **counts, "memory": most}


def _time(online: Online[Any], network: ColumnarNetwork, alpha: float | None, data: Sequence, warm: int) -> float:
    """CPU seconds per step, without the meter."""
    memory, total = online.init(network, alpha), zeros(network.theta)
    started = time.process_time()
    for t, (x_t, y_t) in enumerate(zip(data.x, data.y, strict=True)):
        if t == warm:
            started = time.process_time()
        memory, step = online.step(memory, network.theta, x_t, y_t)
        add(total, step.gradient)
    add(total, online.finish(memory))
    return (time.process_time() - started) / (data.steps - warm)
