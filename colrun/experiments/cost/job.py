"""Experiment `cost`: what one step of an estimator's online form costs, counted and timed.

Where the estimator takes them, lateral weights are lists (networks/listed.py), so that what is counted is work on
weights that exist. After a warm-up of as many steps as the estimator's window is long, T steps are taken with θ still,
their gradients are added up, and what is open is finished; operations and seconds are those of all this, divided by T:
the share of a step once windows are full, the backward passes of bptt and of unfinished blocks included. Memory is the
most that is held after any step, without the weights and the gradient's sum, which are the same for all. The steps of a
steady estimator all cost the same: when one costs what the one before did, the others are not taken.
"""

import gc
import time
from collections.abc import Iterator
from typing import Any

from colrun.estimators import EstimatorName, get_online, parse_estimator
from colrun.estimators.online import M, Online, add, zeros
from colrun.experiments.cost.meter import ARITHMETIC, Meter, tensors_of
from colrun.experiments.declare import Row
from colrun.experiments.network import NetworkConfig
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork, build
from colrun.networks.listed import list_laterals
from colrun.testbed import DTYPES, Sequence, sequence

TIMED_SECONDS = 0.05
"""The clock is good to a hundredth of this."""


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


def _walk(
    online: Online[M], network: ColumnarNetwork, alpha: float | None, data: Sequence, warm: int, total: Gradients
) -> Iterator[M]:
    """The memory before the first step and after each. Gradients go into the total, at last that of what is open.

    Where w is fixed a step that is not counted leaves the same memory behind: all that a steady estimator needs of its
    warm-up, without the backward passes.
    """
    memory = online.init(network, alpha)
    yield memory
    short = online.steady and alpha is None
    for t, (x_t, y_t) in enumerate(zip(data.x, data.y, strict=True)):
        memory, step = online.step(memory, network.theta, x_t, y_t, counted=t >= warm or not short)
        add(total, step.gradient)
        del step
        yield memory
    add(total, online.finish(memory))


def _count(online: Online[Any], network: ColumnarNetwork, alpha: float | None, data: Sequence, warm: int) -> Row:
    """Operations per step by kind, and memory."""
    total, T = zeros(network.theta), data.steps - warm
    walk = _walk(online, network, alpha, data, warm, total)
    memory = next(walk)
    known = [*tensors_of([data, network, memory.readout.network, memory.weights()]), *total.values()]
    most, last = 0, dict[str, int]()
    gc.freeze()  # what is there already is no garbage, and looking through it takes long
    try:
        with Meter() as meter:
            before = dict(meter.counts)
            for t, memory in enumerate(walk, 1 - warm):
                if meter.held(memory, without=known) > most:
                    gc.collect()
                    most = max(most, meter.held(memory, without=known))
                if t < 1:
                    meter.counts.update(before)
                    continue
                step = {kind: count - before[kind] for kind, count in meter.counts.items()}
                if online.steady and step == last:  # so are all that follow
                    meter.counts.update({kind: count + (T - t) * step[kind] for kind, count in meter.counts.items()})
                    break
                before, last = dict(meter.counts), step
    finally:
        gc.unfreeze()
    counts = {kind: count / T for kind, count in meter.counts.items()}
    return {"operations": sum(counts[kind] for kind in ARITHMETIC), **counts, "memory": most}


def _time(online: Online[Any], network: ColumnarNetwork, alpha: float | None, data: Sequence, warm: int) -> float:
    """CPU seconds per step, without the meter; of a steady estimator over as many steps as can be timed well."""
    steps, started = 0, time.process_time()
    for t, _ in enumerate(_walk(online, network, alpha, data, warm, zeros(network.theta)), -warm):
        if t < 1:
            started = time.process_time()
        steps = t
        if online.steady and t > 1 and time.process_time() - started > TIMED_SECONDS:
            break
    return (time.process_time() - started) / steps
