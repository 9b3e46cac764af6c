"""Initial weights of both readings, and what exists."""

import math

import pytest
import torch

from colrun import network
from colrun.networks.cells import CELLS
from colrun.networks.readings import READINGS, switches


def bound_of(value: torch.Tensor) -> float:
    """The bound of a uniform sample, to within its spacing."""
    return float(value.abs().max())


def test_xavier() -> None:
    net = network(0, "gru", columns=20, width=50, lateral="dense")
    assert bound_of(net.theta["A"]) == pytest.approx(math.sqrt(6 / (51 + 50)), rel=1e-3)
    assert bound_of(net.theta["B"]) == pytest.approx(math.sqrt(6 / 100), rel=1e-3)
    assert bound_of(net.theta["U.g"]) == pytest.approx(math.sqrt(6 / (20 * 50 + 20 + 1)), rel=1e-3)
    assert bound_of(net.theta["R.n"]) == pytest.approx(math.sqrt(6 / (20 * 50 + 20 + 1)), rel=2e-2)
    assert not net.theta["b"].any()
    assert not net.theta["c"].any()
    assert "q.g" not in net.theta
    hidden = network(0, columns=20, width=50, own_state=False).theta["A"]
    assert hidden.shape == (20, 50, 50)
    assert bound_of(hidden) == pytest.approx(math.sqrt(6 / 100), rel=1e-3)


def test_pytorch_default() -> None:
    net = network(0, columns=20, width=50, lateral="dense", reading="release")
    assert bound_of(net.theta["A"]) == pytest.approx(1 / math.sqrt(50), rel=1e-3)
    assert bound_of(net.theta["b"]) == pytest.approx(1 / math.sqrt(50), rel=1e-2)
    assert bound_of(net.theta["B"]) == pytest.approx(1 / math.sqrt(50), rel=1e-3)
    assert bound_of(net.theta["U.p"]) == pytest.approx(1 / math.sqrt(1020), rel=1e-3)
    assert bound_of(net.theta["q.p"]) == pytest.approx(1 / math.sqrt(1020), rel=0.2)


def test_feedforward_has_no_recurrence() -> None:
    for reading in READINGS:
        net = network(0, "feedforward", 5, 4, "dense", 3, reading)
        assert not any(name.startswith("R") for name in net.theta)
        assert net.theta["A"].shape == (5, 4, 3)
        bound = math.sqrt(6 / (5 * 4 + 1)) if reading == "text" else 1 / math.sqrt(20)
        assert bound * 0.8 < bound_of(net.theta["U.p"]) < bound


@pytest.mark.parametrize("cell", CELLS)
def test_weights_depend_on_seed_and_name_only(cell: str) -> None:
    one, again, other = network(1, cell), network(1, cell), network(2, cell)
    for name, value in one.theta.items():
        assert torch.equal(value, again.theta[name])
        assert not value.any() or not torch.equal(value, other.theta[name])
    assert torch.equal(network(1, cell, dtype=torch.float32).theta["A"], one.theta["A"].float())
    assert torch.equal(one.theta["B"], network(1).theta["B"])  # shared over cells of the same shape


def test_a_switch_alone_changes_only_itself() -> None:
    assert switches("text", state_bias=True) == switches("text").__class__(state_bias=True)
    assert switches("release", init=None) == READINGS["release"]
    net = network(0, columns=3, width=2, inputs=4, state_bias=True)
    assert not net.theta["q.p"].any()  # Xavier leaves biases at 0, trainable all the same
    assert net.masks["q.p"].all()
