"""The engine against the online forms, and against itself: the same bits whatever runs beside it."""

import itertools
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.special import expit  # type: ignore[import-untyped]

from colrun import gradients as api_gradients
from colrun import network, sequence
from colrun.api import as_batch
from colrun.compiling import Array
from colrun.engine import batch as batches
from colrun.engine import cells
from colrun.engine.batch import Batch
from colrun.engine.contract import compared, gradient
from colrun.engine.forms import FastForm
from colrun.engine.measure import gradients, measure
from colrun.engine.metrics import Metrics, from_sums, sums_of_groups, whole_and_groups
from colrun.engine.run import Run
from colrun.estimators import EstimatorName, fast_forms, get_fast, parse_estimator
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.columnar import build
from colrun.networks.lateral import FEW
from tests.oracle import relative_error

NAMES = [
    parse_estimator(name)
    for name in (
        *("bptt", "rtrl", "master-user", "master-user-no-meta", "tbptt-1", "tbptt-3", "tbptt-40"),
        *("tbptt-block-1", "tbptt-block-4", "tbptt-block-40", "uoro", "nobacktrack", "kf-rtrl"),
        *("elman", "snap-1", "snap-2", "master-user-groups"),
    )
]
LEVELS: list[float | str] = [0.0, "10%", "150%", "dense"]  # none, listed, in part, all


@pytest.mark.parametrize(("cell", "reading"), list(itertools.product(CELLS, ["text", "release"])))
@pytest.mark.parametrize("step_size", [None, 1e-2])
def test_metrics_are_those_of_the_gradients(cell: str, reading: str, step_size: float | None) -> None:
    """Sums taken column by column against gradients kept whole."""
    shapes = [(8, 5, level) for level in LEVELS] + [
        (5, 20, level) for level in LEVELS[1:3]
    ]  # columns together, in twos
    for columns, width, level in shapes:
        architecture = Architecture.of(cell, columns, width, level, 6, reading)
        batch = Batch.draw(architecture, (3, 4, 9), 11, "float64")
        found = measure(batch, fast_forms(NAMES), step_size, by_group=True)
        estimates = gradients(batch, fast_forms(NAMES), step_size)
        assert list(found) == NAMES
        for name in NAMES:
            sums = sums_of_groups(estimates[NAMES[0]], estimates[name], batch.masks)
            wanted = whole_and_groups(sums, from_sums, by_group=True)
            for metric, value in wanted.items():
                scale = wanted["mean_abs_truth"] if metric == "mae" else 1.0
                assert np.array_equal(np.isnan(found[name][metric]), np.isnan(value)), (columns, level, name, metric)
                error = np.nan_to_num(np.abs(found[name][metric] - value) / scale)
                assert (error < 1e-9).all(), (columns, level, name, metric)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
@pytest.mark.parametrize("step_size", [None, 1e-2])
def test_gradients_are_those_of_the_online_forms(cell: str, reading: str, step_size: float | None) -> None:
    """Where lateral weights are a list; tests/estimators has them whole and in part."""
    net, seq = network(3, cell, 8, 5, "20%", 6, reading), sequence(3, 8, 6)
    assert 0 < net.architecture.survival < FEW
    assert net.lateral_weights
    for name in NAMES:
        credit, online = (api_gradients(net, seq, str(name), step_size, form) for form in ("credit", "online"))
        error, where = relative_error(credit, online)
        assert error < 1e-9, (name, where)


def test_levels_meet_both_forms_of_u() -> None:
    below = [Architecture.of(columns=8, width=5, lateral=level).survival < FEW for level in LEVELS]
    assert below == [True, True, False, False]
    assert [Architecture.of(columns=5, width=20, lateral=level).survival < FEW for level in LEVELS] == below


@pytest.mark.parametrize(("function", "truth"), [(cells.tanh, np.tanh), (cells.sigmoid, expit)])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 6e-8), (np.float64, 1e-15)])
def test_tanh_and_sigmoid(
    function: Callable[[Array], None], truth: Callable[[Array], Array], dtype: type, bound: float
) -> None:
    small = np.geomspace(1e-30, 1, 2000)
    given: Array = np.concatenate([np.linspace(-80, 80, 20_001), small, -small]).astype(dtype)
    found, wanted = given.copy(), truth(given.astype(np.float64))
    function(found)
    assert np.all(np.abs(found - wanted) <= bound * np.abs(wanted))
    odd: Array = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30] * 3, dtype=dtype)
    found = odd.copy()
    function(found)
    assert np.array_equal(found, truth(odd.astype(np.float64)), equal_nan=True)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("cell", "step_size"), [("additive", None), ("gru", None), ("feedforward", 1e-2)])
def test_the_same_bits_whatever_the_other_networks_and_estimators(
    level: float | str, cell: str, step_size: float | None
) -> None:
    architecture = Architecture.of(cell, 8, 10, level, 6)

    def of(seeds: tuple[int, ...], names: list[EstimatorName]) -> dict[EstimatorName, Metrics]:
        return measure(Batch.draw(architecture, seeds, 20, "float32"), fast_forms(names), step_size)

    whole, other = of((0, 1, 2, 3, 4), NAMES), of((2, 2, 2, 3, 2), NAMES)
    for name in NAMES:
        alone = of((7, 7, 2, 7, 7), [name])
        for metric, values in whole[name].items():
            assert values[2] == other[name][metric][2] or np.isnan(values[2])
            assert values[2] == alone[name][metric][2] or np.isnan(values[2])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
def test_batches_hold_the_networks_of_build(cell: str, reading: str) -> None:
    for level in LEVELS:
        architecture = Architecture.of(cell, 8, 5, level, 6, reading)
        batch = Batch.draw(architecture, (5, 6), 7, "float32")
        nets = [build(architecture, seed, torch.float32) for seed in (5, 6)]
        wanted = as_batch(nets, [sequence(seed, 7, 6, "float32") for seed in (5, 6)])
        for name, value in vars(wanted.layers).items():
            assert np.array_equal(getattr(batch.layers, name), value), name
        for name in ("U", "R", "q", "R_exists"):
            assert np.array_equal(getattr(batch, name), getattr(wanted, name)), name
        assert all(map(np.array_equal, batch.laterals, wanted.laterals))
        assert list(batch.masks) == list(wanted.masks) == list(nets[0].theta)
        for name, mask in wanted.masks.items():
            assert np.array_equal(batch.masks[name], mask)
        assert batch.lateral_weights() == [net.lateral_weights for net in nets]


def test_a_diverged_network_is_seen_and_harms_no_other() -> None:
    """α = 1e-2 with the additive cell diverges at the paper's size; other networks of the batch keep their bits."""
    small = Architecture.of(columns=20, width=50)
    user, five = fast_forms([EstimatorName("master-user")]), fast_forms([EstimatorName("tbptt", 5)])
    found = measure(Batch.draw(small, (0, 1, 2), 50, "float32"), user, 1e-2)
    assert found[EstimatorName("master-user")]["diverged"].any()
    stacked = [build(small, seed, torch.float32) for seed in (0, 1)]
    shown = [sequence(seed, dtype=torch.float32) for seed in (0, 1)]
    good = measure(as_batch(stacked, shown), five)[EstimatorName("tbptt", 5)]
    stacked[0].theta["A"][0, 0, 0] = torch.inf
    bad = measure(as_batch(stacked, shown), five)[EstimatorName("tbptt", 5)]
    assert bad["diverged"].tolist() == [True, False]
    assert np.isnan(bad["alignment"]).tolist() == [True, False]
    for metric, values in good.items():
        assert values[1] == bad[metric][1]


def test_levels_that_share_their_draws_do_not_disturb_each_other() -> None:
    """Batches of the same seeds share memory; what one leaves there must not reach another, nor come back to it."""
    name = parse_estimator("tbptt-3")
    shapes = [Architecture.of("additive", 4, 5, level, 6) for level in (0.0, "50%", "dense")]
    alone = []
    for shape in shapes:
        batches._drawn.cache_clear()
        alone.append(measure(Batch.draw(shape, (0, 1), 9, "float64"), fast_forms([name]))[name])
    for _ in range(20):  # as often as it takes for memory to be used again
        for shape, wanted in zip(shapes, alone, strict=True):
            found = measure(Batch.draw(shape, (0, 1), 9, "float64"), fast_forms([name]))[name]
            assert all(np.array_equal(found[metric], wanted[metric]) for metric in wanted)
    both = [Run(Batch.draw(shape, (0, 1), 9, "float64")) for shape in shapes[:2]]
    first = gradient(both[0], both[0].adjoint(9), True)
    gradient(both[1], both[1].adjoint(9), True)
    again = gradient(both[0], both[0].adjoint(9), True)
    assert all(np.array_equal(first[name], again[name]) for name in first)

    def sums(run: Run) -> Array:
        tbptt = get_fast("tbptt")
        assert isinstance(tbptt, FastForm)
        (credit,) = tbptt.credits(run, [3])
        assert not isinstance(credit, dict)
        return compared(run, run.adjoint(9), [(credit, True)])

    before = [sums(each) for each in both]
    assert np.array_equal(sums(both[0]), before[0])


def test_nothing_of_the_engine_imports_torch() -> None:
    """Neither it nor any fast form, nor a job of a sweep by it."""
    code = """
import sys
from colrun.estimators import ESTIMATORS, get_fast
from colrun.experiments import get_experiment
from colrun.experiments.alignment import job
for name, entry in ESTIMATORS.items():
    assert entry.only_learns or get_fast(name)
experiment = get_experiment("alignment")
values = {axis.name: [axis.default] for axis in experiment.axes} | {"columns": [3], "width": [2], "inputs": [4]}
(config,) = experiment.expand(values, print)
assert job.run(config, [0], ["master-user", "tbptt-3"])[0]
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
