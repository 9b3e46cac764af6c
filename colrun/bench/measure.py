"""What `colrun bench` measures, all in one run on one core."""

import itertools
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from colrun.bench.operations import operations
from colrun.bench.plain import measure_plain
from colrun.bench.vectorised import measure_vectorised
from colrun.engine.batch import Batch
from colrun.engine.contract import Crossing, compared
from colrun.engine.forms import FastForm
from colrun.engine.laterals import laterals_of
from colrun.engine.measure import by_form, measure
from colrun.engine.run import Run
from colrun.estimators import EstimatorName, fast_forms
from colrun.experiments.network import networks_per_batch
from colrun.networks.architecture import Architecture
from colrun.networks.columnar import build
from colrun.testbed import DTYPES, sequence

_BATCHES = itertools.count()


@dataclass(frozen=True)
class Work:
    """A shape and what is done on it."""

    architecture: Architecture
    names: tuple[EstimatorName, ...]
    step_size: float | None = None
    steps: int = 50
    dtype: str = "float32"

    @property
    def block(self) -> int:
        """Networks per batch, as in a sweep."""
        shape = self.architecture
        return networks_per_batch(shape.columns, shape.width)

    def draw(self) -> Batch:
        """A batch of other seeds each time, so that nothing is known from before."""
        first = next(_BATCHES) * self.block
        return Batch.draw(self.architecture, tuple(range(first, first + self.block)), self.steps, self.dtype)


def cpu_seconds(function: Callable[[], Any], least: float = 0.3, most: int = 200) -> float:
    """Least CPU time of several calls: what the work costs when nothing else is in the way."""
    function()
    best, spent, calls = float("inf"), 0.0, 0
    while (spent < least or calls < 3) and calls < most:
        started = time.process_time()
        function()
        taken = time.process_time() - started
        best, spent, calls = min(best, taken), spent + taken, calls + 1
    return best


def peak(dtype: str) -> float:
    """The machine's matrix-product peak on one core, operations per second: the best of two libraries and two sizes."""
    best = 0.0
    for size in (512, 1536):
        square = torch.rand(size, size, dtype=DTYPES[dtype])
        array = square.numpy()
        for product in (lambda s=square: s @ s, lambda a=array: a @ a):
            best = max(best, 2.0 * size**3 / cpu_seconds(product, least=0.7))
    return best


def engine_seconds(work: Work, least: float = 1.0) -> float:
    """CPU time per network, from drawing on, as of a sweep's first level; further levels and step sizes share draws."""
    return cpu_seconds(lambda: measure(work.draw(), fast_forms(work.names), work.step_size), least) / work.block


def stages(work: Work) -> dict[str, float]:
    """CPU time per network by stage."""
    batch = work.draw()
    run = Run(batch, work.step_size)
    asked = by_form(fast_forms(work.names))
    forms = [(form, list(windows.values())) for form, windows in asked if isinstance(form, FastForm)]

    def all_credits() -> list[Crossing]:
        found = [(credit, form.crosses) for form, windows in forms for credit in form.credits(run, windows)]
        return [(credit, crosses) for credit, crosses in found if not isinstance(credit, dict)]

    truth, credits = run.adjoint(work.steps), all_credits()
    found = {
        "drawing": cpu_seconds(lambda: laterals_of(work.draw())),
        "forward and Jacobian": cpu_seconds(lambda: Run(batch, work.step_size)),
        "credits": cpu_seconds(lambda: (run.adjoint(work.steps), all_credits())),
        "gradients and metrics": cpu_seconds(lambda: compared(run, truth, credits)),
    }
    return {name: seconds / work.block for name, seconds in found.items()}


def first_call_seconds(work: Work) -> float:
    """Of a process's first batch: compiling, or loading what was compiled before."""
    started = time.perf_counter()
    measure(work.draw(), fast_forms(work.names), work.step_size)
    return time.perf_counter() - started


def reference_seconds(work: Work, which: str) -> float:
    """CPU time of one network, after a warm-up on a tiny one: what a first call loads is not counted."""
    function = {"plain": measure_plain, "vectorised": measure_vectorised}[which]
    names = [name for name in work.names if name.family != "bptt"]

    def run(architecture: Architecture, steps: int) -> float:
        network = build(architecture, 0, DTYPES[work.dtype])
        shown = sequence(0, steps, architecture.inputs, work.dtype)
        started = time.process_time()
        function(network, shown, names, work.step_size)
        return time.process_time() - started

    run(replace(work.architecture, columns=2, width=2, lateral=0.0), 3)
    return run(work.architecture, work.steps)


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Slope of log seconds against log size."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


def peak_memory() -> float:
    """Of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def share_of_peak(work: Work, seconds: float, machine: float) -> float:
    """Of the least operations needed, per second, against the machine's peak."""
    return operations(work.architecture, work.steps, gradients_of(work)) / seconds / machine


def gradients_of(work: Work) -> float:
    """How many there are, the truth included; of a window that is long enough only the steps that it does not cover."""
    windows = (min(name.window or 0, work.steps) if name.family == "tbptt" else 0 for name in work.names)
    return 1 + sum(1 - window / work.steps if 4 * window >= work.steps else 1.0 for window in windows)
