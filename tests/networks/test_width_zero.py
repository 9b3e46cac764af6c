"""Networks without feature layers (LEARNING: width 0): what a seed draws for them."""

import math

import numpy as np
import pytest

from colrun.errors import InvalidValueError
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.draw import draw_numbers, draw_weights, masks_of


def without_layers(cell: str = "mgu", columns: int = 10, lateral: float | str = 0.0, inputs: int = 4) -> Architecture:
    return Architecture.of(cell, columns, 0, lateral, inputs, "practical")


@pytest.mark.parametrize("cell", CELLS)
def test_names_shapes_and_bounds(cell: str) -> None:
    architecture = without_layers(cell)
    theta = draw_weights(architecture, 0)
    shapes = {"V": (10, 4), "R": (10, 10), "q": (10,)}
    kinds = "VRq" if architecture.recurrent else "Vq"
    assert set(theta) == {f"{kind}.{gate}" for kind in kinds for gate in CELLS[cell].gates}
    bound = 1 / math.sqrt(4 + (10 if architecture.recurrent else 0))
    for name, value in theta.items():
        assert value.shape == shapes[name[0]]
        assert np.abs(value).max() <= bound
    assert max(np.abs(value).max() for value in theta.values()) > 0.9 * bound


def test_only_lateral_recurrence_is_masked_and_levels_are_nested() -> None:
    masks = [masks_of(without_layers(lateral=s), draw_numbers(without_layers(lateral=s), 3)) for s in (0, 0.5, "dense")]
    for gate in "gp":
        none, some, every = (mask[f"R.{gate}"] for mask in masks)
        assert set(masks[0]) == {"R.g", "R.p"}
        assert np.array_equal(none, np.eye(10, dtype=np.bool_))
        assert (none <= some).all()
        assert every.all()
    assert not np.array_equal(masks[1]["R.g"], masks[1]["R.p"])
    seeds = range(200)
    alive = [masks_of(without_layers(lateral=0.5), draw_numbers(without_layers(lateral=0.5), seed)) for seed in seeds]
    share = np.mean([mask["R.g"][~np.eye(10, dtype=np.bool_)] for mask in alive])
    assert share == pytest.approx(0.5 / 9, abs=4 * math.sqrt(0.5 / 9 / (90 * len(seeds))))


def test_weights_of_levels_are_the_same_before_masks() -> None:
    sparse, dense = (draw_weights(without_layers(lateral=s), 5) for s in (0, "dense"))
    assert all(np.array_equal(sparse[name], dense[name]) for name in sparse)


def test_refusals() -> None:
    with pytest.raises(InvalidValueError, match="mask_recurrence"):
        Architecture.of("mgu", 10, 0, reading="practical", mask_recurrence=False)
    assert not Architecture.of("mgu", 10, 0, reading="practical").sees_own_state
