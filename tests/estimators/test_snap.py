"""SnAp against the whole influence matrix, of which every entry that is not tracked is put to zero by itself."""

import numpy as np
import pytest

from colrun import evaluate, gradients, network, sequence
from colrun.estimators.reach import FIRST, ROWS, U, tracked
from colrun.experiments import get_experiment
from colrun.experiments.cost import job as cost
from colrun.networks.cells import CELLS
from tests import oracle


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
@pytest.mark.parametrize("lateral", ["10%", "200%", "dense"])
@pytest.mark.parametrize("step_size", [None, 1e-2])
def test_both_forms_are_the_masked_influence_matrix(
    cell: str, reading: str, lateral: str, step_size: float | None
) -> None:
    net, seq = network(3, cell, 5, 4, lateral, 4, reading), sequence(3, 7, 4)
    wanted = oracle.snap(net, oracle.steps_of(net, seq), step_size, (1, 2))
    for order, gradient in zip((1, 2), wanted, strict=True):
        for form in ("credit", "online"):
            error, name = oracle.relative_error(gradients(net, seq, f"snap-{order}", step_size, form), gradient)
            assert error < 1e-12, (order, form, name)


def test_a_row_of_the_second_layer_reaches_what_its_feature_enters() -> None:
    """Column 0 feeds column 1 by its unit 2 alone, and that feeds column 2 by R."""
    net = network(0, columns=3, width=4, inputs=2)
    net.masks["U.p"][1, 0, 2] = True
    net.masks["R.p"][2, 1] = True
    masks = {name: mask.numpy() for name, mask in net.masks.items()}
    one, two = tracked(net.architecture, masks, [1, 2])
    for sets, first in ((one, [0, 1]), (two, [0, 1, 2])):
        assert np.flatnonzero(sets[U, 0]).tolist() == ([0] if sets is one else [0, 1])
        assert np.flatnonzero(sets[FIRST, 0]).tolist() == first
        assert np.flatnonzero(sets[ROWS + 2, 0]).tolist() == first
    assert np.flatnonzero(one[ROWS + 1, 0]).tolist() == [0]
    assert np.flatnonzero(two[ROWS + 1, 0]).tolist() == [0, 1]


def test_at_100_percent_order_one_is_about_90_percent_aligned() -> None:
    """A whole column's weights in one group gave 97 %."""
    nets = [network(seed, lateral="100%", dtype="float32") for seed in range(20)]
    shown = [sequence(seed, dtype="float32") for seed in range(20)]
    found = [evaluate(net, seq, ["snap-1"])["snap-1"]["alignment"] for net, seq in zip(nets, shown, strict=True)]
    assert 0.86 < np.mean(found) < 0.92


def test_cost_falls_with_the_entries() -> None:
    experiment = get_experiment("cost")

    def operations(lateral: float) -> float:
        config = experiment.point(columns=10, width=20, inputs=5, steps=2, lateral=lateral)
        (row,) = cost.run(config, [0], ["snap-1"])[0]
        return float(row["operations"])

    assert operations(1.0) < 0.65 * operations(9.0)
