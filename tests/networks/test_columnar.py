"""Initial weights of both readings, and what exists."""

import itertools
import math

import pytest
import torch

from colrun import dense_network, network
from colrun.networks.base import CellNetwork
from colrun.networks.cells import CELLS
from colrun.networks.readings import READINGS, switches
from colrun.streams import unit_uniform

C, W, X = 5, 4, 7  # columns, width, inputs: no two fan-ins are equal
SETTINGS = list(itertools.product(CELLS, ["xavier", "pytorch"], [True, False]))


def check_bound(
    net: CellNetwork, name: str, stream: str, fan_in: int, fan_out: int = 1, part: slice | None = None
) -> None:
    """The tensor (or a part of its last index) is its stream's numbers, scaled from (-1, 1) by exactly the bound."""
    value = net.theta[name] if part is None else net.theta[name][..., part]
    bound = 1 / math.sqrt(fan_in)
    if net.architecture.switches.init == "xavier":
        bound = math.sqrt(6 / (fan_in + fan_out)) if name[0] in "ABUR" else 0.0
    unit = torch.from_numpy(2 * unit_uniform(net.seed, stream, *value.shape) - 1)
    torch.testing.assert_close(value / unit, torch.full_like(value, bound), rtol=1e-12, atol=0, msg=name)


@pytest.mark.parametrize(("cell", "init", "own_state"), SETTINGS)
def test_the_bound_of_every_tensor(cell: str, init: str, own_state: bool) -> None:
    net = network(3, cell, C, W, "dense", X, init=init, own_state=own_state, state_bias=True)
    recurrent = cell != "feedforward"
    seen = X + 1 if own_state and recurrent else X
    row = C * W + C if recurrent else C * W
    assert net.theta["A"].shape == (C, W, seen)
    check_bound(net, "A", "A", seen, W, slice(0, X))
    if seen > X:
        check_bound(net, "A", "A.own", seen, W, slice(X, None))
    check_bound(net, "b", "b", seen)
    check_bound(net, "B", "B", W, W)
    check_bound(net, "c", "c", W)
    gates = CELLS[cell].gates
    for gate in gates:
        check_bound(net, f"U.{gate}", f"U.{gate}", row)
        check_bound(net, f"q.{gate}", f"q.{gate}", row)
        if recurrent:
            check_bound(net, f"R.{gate}", f"R.{gate}", row)
    assert len(net.theta) == 4 + (3 if recurrent else 2) * len(gates)


@pytest.mark.parametrize(("cell", "init", "own_state"), SETTINGS)
def test_the_bound_of_every_tensor_of_a_dense_network(cell: str, init: str, own_state: bool) -> None:
    net = dense_network(3, cell, C, W, X, init=init, own_state=own_state, state_bias=True)
    recurrent = cell != "feedforward"
    H = net.theta["b"].numel()
    seen = X + C if own_state and recurrent else X
    row = H + C if recurrent else H
    check_bound(net, "A", "dense.A", seen, H)
    check_bound(net, "b", "dense.b", seen)
    check_bound(net, "B", "dense.B", H, H)
    check_bound(net, "c", "dense.c", H)
    for gate in CELLS[cell].gates:
        check_bound(net, f"U.{gate}", f"dense.U.{gate}", row)
        check_bound(net, f"q.{gate}", f"dense.q.{gate}", row)
        if recurrent:
            check_bound(net, f"R.{gate}", f"dense.R.{gate}", row)


def test_what_the_readings_set() -> None:
    text, release = network(0, "gru"), network(0, "gru", reading="release")
    assert text.theta["A"].shape == (20, 50, 51)
    assert release.theta["A"].shape == (20, 50, 50)
    assert not text.theta["b"].any()
    assert not text.theta["c"].any()
    assert release.theta["b"].any()
    assert release.theta["c"].any()
    assert "q.g" not in text.theta
    assert release.theta["q.g"].any()


def test_feedforward_has_no_recurrence() -> None:
    for reading in READINGS:
        net = network(0, "feedforward", 5, 4, "dense", 3, reading)
        assert not any(name.startswith("R") for name in net.theta)
        assert net.theta["A"].shape == (5, 4, 3)


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
