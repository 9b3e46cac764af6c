"""One benchmark: everything about one shape, as plain data."""

from dataclasses import replace
from typing import Any

import torch

from colrun import __version__
from colrun.bench.measure import (
    Work,
    engine_seconds,
    exponent,
    first_call_seconds,
    gradients_of,
    peak,
    peak_memory,
    reference_seconds,
    share_of_peak,
    stages,
)
from colrun.bench.operations import Weights, operations
from colrun.estimators import EstimatorName
from colrun.networks.architecture import Architecture
from colrun.store.provenance import cpu_model


def measure_all(
    architecture: Architecture,
    names: tuple[EstimatorName, ...],
    step_size: float | None,
    steps: int,
    dtype: str,
    plain: bool,
    growth: bool,
) -> dict[str, Any]:
    """Engine first, while memory is clean; then the references and the peak."""
    work = Work(architecture, names, step_size, steps, dtype)
    warm_up = first_call_seconds(work)
    seconds = engine_seconds(work)
    memory = peak_memory()
    machine = peak(work.dtype)
    found: dict[str, Any] = {
        "colrun": __version__,
        "cpu": cpu_model(),
        "torch": torch.__version__,
        "shape": {
            "cell": architecture.cell,
            "columns": architecture.columns,
            "width": architecture.width,
            "lateral": architecture.lateral,
            "reading": architecture.reading,
            "steps": steps,
            "step_size": step_size,
            "dtype": dtype,
            "estimators": [str(name) for name in names],
            "networks_per_batch": work.block,
        },
        "peak_operations_per_second": machine,
        "operations_per_network": operations(architecture, steps, gradients_of(work)),
        "engine_seconds_per_network": seconds,
        "networks_per_second": 1 / seconds,
        "share_of_peak": share_of_peak(work, seconds, machine),
        "first_batch_seconds": warm_up,
        "stages_seconds_per_network": stages(work),
        "peak_memory_bytes": memory,
    }
    for which in ("vectorised", *(["plain"] if plain else [])):
        taken = reference_seconds(work, which)
        found |= {f"{which}_seconds_per_network": taken, f"{which}_ratio": taken / seconds}
    if growth:
        found["growth"] = growth_of(work)
    return found


def growth_of(work: Work) -> dict[str, dict[str, Any]]:
    """Fitted exponents of the engine's cost, one size varied at a time, and against |θ|."""
    shape = work.architecture
    varied: dict[str, list[tuple[float, Work]]] = {
        "columns": [(C, _with(work, columns=C)) for C in (10, 20, 40, 80)],
        "width": [(W, _with(work, width=W)) for W in (25, 50, 100, 200)],
        "steps": [(T, replace(work, steps=T)) for T in (25, 50, 100, 200)],
    }
    tbptt = [EstimatorName("tbptt", k) for k in (40, 20, 10, 5, 4, 3, 2, 1)]
    varied["gradients"] = [(n + 1, replace(work, names=tuple(tbptt[:n]))) for n in (1, 2, 4, 8)]
    varied["largest window"] = [(k, replace(work, names=(EstimatorName("tbptt", k),))) for k in (5, 10, 20, 40)]
    sizes = [(C, W) for C, W in ((10, 25), (20, 50), (40, 100), (50, 150))]
    varied["|θ|"] = [(_weights(_with(work, columns=C, width=W).architecture), _with(work, columns=C, width=W))
                     for C, W in sizes]  # fmt: skip
    found = {}
    for name, points in varied.items():
        seconds = [engine_seconds(each, least=0.3) for _, each in points]
        sizes_here = [float(size) for size, _ in points]
        found[name] = {"sizes": sizes_here, "seconds": seconds, "exponent": exponent(sizes_here, seconds)}
    found["columns"]["note"] = f"at width {shape.width}"
    return found


def _with(work: Work, **changes: Any) -> Work:
    return replace(work, architecture=replace(work.architecture, **changes))


def _weights(architecture: Architecture) -> float:
    n = Weights.of(architecture)
    return n.first + n.second + n.lateral + n.recurrent
