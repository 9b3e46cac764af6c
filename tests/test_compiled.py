"""The compiled path against the pure torch path, and against itself: the same bits whatever runs beside it."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.special import expit  # type: ignore[import-untyped]

from colrun.compiling import Array
from colrun.engine import batch as batches
from colrun.engine import cells
from colrun.engine.batch import Batch
from colrun.engine.contract import compared, gradient
from colrun.engine.measure import measure, measure_torch
from colrun.engine.run import Compiled
from colrun.estimators import EstimatorName, parse_estimator
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.columnar import build
from colrun.networks.lateral import FEW
from colrun.testbed import sequence

NAMES = [
    parse_estimator(name)
    for name in (
        *("bptt", "rtrl", "master-user", "master-user-no-meta", "tbptt-1", "tbptt-3", "tbptt-40"),
        *("tbptt-block-1", "tbptt-block-4", "tbptt-block-40", "uoro", "nobacktrack", "kf-rtrl", "master-user-groups"),
    )
]
LEVELS: list[float | str] = [0.0, "10%", "150%", "dense"]  # none, listed, in part, all


@pytest.mark.parametrize(("cell", "reading"), list(itertools.product(CELLS, ["text", "release"])))
@pytest.mark.parametrize("step_size", [None, 1e-2])
def test_metrics_are_those_of_torch(cell: str, reading: str, step_size: float | None) -> None:
    shapes = [(8, 5, level) for level in LEVELS] + [
        (5, 20, level) for level in LEVELS[1:3]
    ]  # columns together, in twos
    for columns, width, level in shapes:
        architecture = Architecture.of(cell, columns, width, level, 6, reading)
        batch = Batch.draw(architecture, (3, 4, 9), 11, torch.float64)
        found, wanted = (each(batch, NAMES, step_size, 2, by_group=True) for each in (measure, measure_torch))
        assert list(found) == list(wanted) == NAMES
        for name, metrics in wanted.items():
            for metric, value in metrics.items():
                # bias is the root of a difference of squares, so that an exact estimate leaves 1e-8 of it
                scale = metrics["mean_abs_truth"] if metric == "mae" else 100.0 if metric == "bias" else 1.0
                error = (found[name][metric].double() - value.double()).abs() / scale
                same = found[name][metric].isnan() == value.isnan() if value.is_floating_point() else torch.ones(3)
                assert same.all(), (columns, level, name, metric)
                assert (error.nan_to_num() < 1e-9).all(), (columns, level, name, metric)


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
    whole = measure(Batch.draw(architecture, (0, 1, 2, 3, 4), 20, torch.float32), NAMES[:-1], step_size)
    other = measure(Batch.draw(architecture, (2, 2, 2, 3, 2), 20, torch.float32), NAMES[:-1], step_size)
    for name in NAMES[:-1]:
        alone = measure(Batch.draw(architecture, (7, 7, 2, 7, 7), 20, torch.float32), [name], step_size)
        for metric, values in whole[name].items():
            assert torch.equal(values[2], other[name][metric][2]) or values[2].isnan()
            assert torch.equal(values[2], alone[name][metric][2]) or values[2].isnan()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
def test_batches_hold_the_networks_of_build(cell: str, reading: str) -> None:
    for level in LEVELS:
        architecture = Architecture.of(cell, 8, 5, level, 6, reading)
        batch = Batch.draw(architecture, (5, 6), 7, torch.float32)
        for n, seed in enumerate((5, 6)):
            wanted, found, shown = build(architecture, seed, torch.float32), batch.network(n), sequence(seed, 7, 6)
            assert list(found.theta) == list(wanted.theta)
            for name in wanted.theta:
                assert torch.equal(found.theta[name], wanted.theta[name])
                assert torch.equal(found.masks[name], wanted.masks[name])
            assert torch.equal(found.w, wanted.w)
            assert torch.equal(batch.layers.x[n], shown.x.float())
            assert batch.lateral_weights()[n] == wanted.lateral_weights


def test_a_diverged_network_is_seen_and_harms_no_other() -> None:
    """α = 1e-2 with the additive cell diverges at the paper's size; other networks of the batch keep their bits."""
    small = Architecture.of(columns=20, width=50)
    found = measure(Batch.draw(small, (0, 1, 2), 50, torch.float32), [EstimatorName("master-user")], 1e-2)
    assert found[EstimatorName("master-user")]["diverged"].any()
    stacked = [build(small, seed, torch.float32) for seed in (0, 1)]
    shown = [sequence(seed, dtype=torch.float32) for seed in (0, 1)]
    good = measure(Batch.stack(stacked, shown), [EstimatorName("tbptt", 5)])[EstimatorName("tbptt", 5)]
    stacked[0].theta["A"][0, 0, 0] = torch.inf
    bad = measure(Batch.stack(stacked, shown), [EstimatorName("tbptt", 5)])[EstimatorName("tbptt", 5)]
    assert bad["diverged"].tolist() == [True, False]
    assert bad["alignment"].isnan().tolist() == [True, False]
    for metric, values in good.items():
        assert torch.equal(values[1], bad[metric][1])


def test_levels_that_share_their_draws_do_not_disturb_each_other() -> None:
    """Batches of the same seeds share memory; what one leaves there must not reach another, nor come back to it."""
    names = [parse_estimator("tbptt-3")]
    shapes = [Architecture.of("additive", 4, 5, level, 6) for level in (0.0, "50%", "dense")]
    alone = []
    for shape in shapes:
        batches._drawn.cache_clear()
        alone.append(measure(Batch.draw(shape, (0, 1), 9, torch.float64), names)[names[0]])
    for _ in range(20):  # as often as it takes for memory to be used again
        for shape, wanted in zip(shapes, alone, strict=True):
            found = measure(Batch.draw(shape, (0, 1), 9, torch.float64), names)[names[0]]
            assert all(torch.equal(found[metric], wanted[metric]) for metric in wanted)
    both = [Compiled(Batch.draw(shape, (0, 1), 9, torch.float64), None) for shape in shapes[:2]]
    first = gradient(both[0], both[0].adjoint(9), True)
    gradient(both[1], both[1].adjoint(9), True)
    again = gradient(both[0], both[0].adjoint(9), True)
    assert all(torch.equal(first[name], again[name]) for name in first)
    sums = [compared(each, each.adjoint(9), [(each.lagged([3])[0], True)]) for each in both]
    assert torch.equal(compared(both[0], both[0].adjoint(9), [(both[0].lagged([3])[0], True)]), sums[0])
