"""Networks with lateral weights as lists: the same function of the same weights."""

import pytest
import torch

from colrun import gradients, network, sequence
from colrun.estimators import ESTIMATORS, get_online, parse_estimator, why_undefined
from colrun.networks.cells import CELLS
from colrun.networks.listed import list_laterals
from tests.oracle import relative_error

TAKING = [
    name
    for name in (f"{name}-3" if entry.windowed else name for name, entry in ESTIMATORS.items())
    if get_online(parse_estimator(name)).takes_lists
]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
@pytest.mark.parametrize("lateral", [0.0, "60%", "dense"])
def test_every_weight_is_there_once(cell: str, reading: str, lateral: float | str) -> None:
    net = network(1, cell, 5, 3, lateral, 4, reading)
    listed = list_laterals(net)
    assert listed.parameter_count == net.parameter_count == sum(value.numel() for value in listed.theta.values())
    assert listed.lateral_weights == net.lateral_weights
    for name, value in listed.unlisted(listed.theta).items():
        assert torch.equal(value, net.theta[name])
    for name, owner in listed.owner.items():
        assert owner.expand(listed.theta[name].shape).shape == listed.theta[name].shape


DEFINED = [(name, cell) for name in TAKING for cell in CELLS if not why_undefined(parse_estimator(name).family, cell)]


@pytest.mark.parametrize(("estimator", "cell"), DEFINED)
@pytest.mark.parametrize(("lateral", "step_size"), [(0.0, None), ("60%", 0.02)])
def test_online_forms_give_the_same_gradient(
    estimator: str, cell: str, lateral: float | str, step_size: float | None
) -> None:
    net, seq = network(2, cell, 4, 3, lateral, 5, "release"), sequence(2, 6, 5)
    wanted = gradients(net, seq, estimator, step_size, form="online")
    listed = list_laterals(net)
    found = listed.unlisted(gradients(listed, seq, estimator, step_size, form="online"))
    assert wanted["A"].any()
    error, where = relative_error(found, wanted)
    assert error < 1e-10, where
