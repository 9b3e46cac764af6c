"""The references do the same work as the engine, and the engine is as much faster as docs/performance.md says."""

import itertools
import subprocess
import sys

import pytest

from colrun.bench.measure import Work, engine_seconds, gradients_of, reference_seconds, stages
from colrun.bench.operations import operations
from colrun.bench.plain import measure_plain
from colrun.bench.vectorised import measure_vectorised
from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.estimators import fast_forms, parse_estimator
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.columnar import build
from colrun.testbed import sequence

NAMES = [parse_estimator(f"tbptt-{k}") for k in (1, 3, 5, 20, 40)]
NAMES = [parse_estimator("master-user"), *NAMES]


@pytest.mark.parametrize(("cell", "reading"), list(itertools.product(CELLS, ["text", "release"])))
@pytest.mark.parametrize("step_size", [None, 1e-2])
def test_references_give_the_engines_metrics(cell: str, reading: str, step_size: float | None) -> None:
    architecture = Architecture.of(cell, 4, 3, "50%", 5, reading)
    batch = Batch.draw(architecture, (1,), 9, "float64")
    engine = measure(batch, fast_forms(NAMES), step_size)
    for reference in (measure_plain, measure_vectorised):
        found = reference(build(architecture, 1), sequence(1, 9, 5), NAMES, step_size)
        for name in NAMES:
            for metric, value in found[name].items():
                scale = found[name]["mean_abs_truth"] if metric == "mae" else 1.0
                assert value == pytest.approx(float(engine[name][metric][0]), rel=1e-9, abs=1e-9 * scale, nan_ok=True)


def test_operations_by_hand() -> None:
    """C = 2, W = 3, one input, dense, text: A 2x3x2, B 2x3x3, U 2x2x3, R 2x2 weights."""
    A, B, U, R = 12, 18, 12, 4
    forward, jacobian, back, gradient = A + B + U + R, B + U, U + B, A + B + U + R
    architecture = Architecture.of("additive", 2, 3, "dense", 1)
    assert operations(architecture, 7, 5) == 2 * 7 * (forward + jacobian + 5 * (back + gradient))
    blind = Architecture.of("additive", 2, 3, "dense", 1, own_state=False)  # A without the own state, no tangents
    assert operations(blind, 7, 5) == 2 * 7 * (forward - 6 + 5 * (back + gradient - 6))


def test_operations_that_do_not_run_are_not_counted() -> None:
    """Without laterals the way back through B is shared; a window counts as the steps that it does not cover."""
    sparse = Architecture.of("additive", 2, 3, 0.0, 1)
    assert operations(sparse, 7, 5) - operations(sparse, 7, 4) == 2 * 7 * (6 + 12 + 18 + 6 + 2)
    work = Work(sparse, tuple(parse_estimator(f"tbptt-{k}") for k in (1, 5, 10)), steps=10)
    assert gradients_of(work) == 1 + 1 + 0.5 + 0


def test_every_call_draws_other_networks() -> None:
    work = Work(Architecture.of("additive", 2, 3, 0.0, 1), ())
    assert not set(work.draw().seeds) & set(work.draw().seeds)


def test_the_engine_is_a_thousand_times_as_fast_as_plain_and_thirty_times_as_vectorised() -> None:
    """Ratios of CPU time in one run at C = 20, W = 50; measured: far above these bounds."""
    work = Work(Architecture.of(lateral="10%"), tuple(NAMES))
    engine = engine_seconds(work)
    assert reference_seconds(work, "vectorised") / engine > 30
    assert reference_seconds(work, "plain") / engine > 1000


def test_small_networks_are_not_all_overhead() -> None:
    """C = W = 5 against C = 20, W = 50, drawing left out: a busy machine must not fail it."""

    def seconds(C: int, W: int) -> float:
        found = stages(Work(Architecture.of("additive", C, W, "10%"), tuple(NAMES)))
        return sum(taken for name, taken in found.items() if name != "drawing")

    assert seconds(20, 50) / seconds(5, 5) > 15


def test_threads_are_limited_before_libraries_count_them() -> None:
    code = (
        "import sys, colrun.cli.bench, colrun.cli.job, colrun.run.threads; print({'numpy', 'torch'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"set()\n"
