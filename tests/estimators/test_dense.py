"""Dense networks and random groups against the plain oracle, which has a dense step and groups of its own."""

import pytest

from colrun import dense_network, gradients, network, sequence
from colrun.estimators import parse_estimator
from colrun.estimators.master_user_groups import random_owner
from colrun.experiments.grouping.dense import Together
from colrun.networks.base import CellNetwork
from colrun.networks.cells import CELLS
from tests import oracle

TOLERANCE = 1e-9
SETTINGS: dict[str, dict[str, str | bool]] = {
    "text": {"init": "pytorch"},  # biases that are not 0, so that few units are dead
    "own_state": {"init": "pytorch", "own_state": False},
    "release": {"reading": "release"},
}


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_dense_networks_equal_the_oracle(cell: str, setting: str, step_size: float | None) -> None:
    net = dense_network(3, cell, 4, 2, 3, **SETTINGS[setting])  # type: ignore[arg-type]
    seq = sequence(3, 7, 3)
    truth = oracle.bptt(net, seq, step_size)
    assert truth["A"].any()
    expected = {
        "bptt": truth,
        "rtrl": truth,
        "tbptt-3": oracle.tbptt(net, seq, step_size, 3),
        "tbptt-block-3": oracle.tbptt_block(net, seq, step_size, 3),
        "master-user-groups": oracle.groups(net, seq, step_size, random_owner(net)),
    }
    for estimator, wanted in expected.items():
        found = {form: gradients(net, seq, estimator, step_size, form) for form in ("online", "credit")}
        if "tbptt" not in estimator:
            credit = Together([net], [seq], step_size).gradients(parse_estimator(estimator))
            found["together"] = {name: value[0] for name, value in credit.items()}
        for form, each in found.items():
            error, where = oracle.relative_error(each, wanted)
            assert error < TOLERANCE, f"{estimator} ({form}) differs in {where} by {error:.1e}"


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("lateral", [0.0, "50%", "dense"])
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_groups_on_columnar_networks_equal_the_oracle(cell: str, lateral: float | str, step_size: float | None) -> None:
    net, seq = network(3, cell, 4, 3, lateral, 5, "release"), sequence(3, 6, 5)
    wanted = oracle.groups(net, seq, step_size, random_owner(net))
    assert wanted["A"].any()
    for form in ("credit", "online"):
        error, where = oracle.relative_error(gradients(net, seq, "master-user-groups", step_size, form), wanted)
        assert error < TOLERANCE, f"{form} differs in {where} by {error:.1e}"


def test_groups_leave_something_out() -> None:
    """The comparisons above would also pass if groups were exact."""
    nets: list[CellNetwork] = [dense_network(3, columns=4, width=2, inputs=3), network(3, "additive", 4, 3, "dense", 3)]
    for net in nets:
        seq = sequence(3, 7, 3)
        truth = oracle.bptt(net, seq, None)
        assert oracle.relative_error(gradients(net, seq, "master-user-groups"), truth)[0] > 0.1
