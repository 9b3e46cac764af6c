"""One contract for every registered estimator."""

import pytest
import torch

from colrun import Sequence, evaluate, gradients, network, sequence
from colrun.api import as_batch
from colrun.engine.measure import gradients as engine_gradients
from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS, fast_forms, get_online, parse_estimator, why_undefined
from colrun.estimators.online import add, zeros
from colrun.networks.cells import CELLS
from tests.oracle import relative_error

NAMES = [f"{name}-3" if entry.windowed else name for name, entry in ESTIMATORS.items() if not entry.only_learns]


DEFINED = [(name, cell) for name in NAMES for cell in CELLS if not why_undefined(parse_estimator(name).family, cell)]
UNDEFINED = [(name, cell) for name in NAMES for cell in CELLS if (name, cell) not in DEFINED]


@pytest.mark.parametrize(("estimator", "cell"), DEFINED)
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_online_equals_credit(estimator: str, cell: str, step_size: float | None) -> None:
    net, seq = network(2, cell, 4, 3, "40%", 5, "release"), sequence(2, 9, 5)
    credit = gradients(net, seq, estimator, step_size)
    error, name = relative_error(credit, gradients(net, seq, estimator, step_size, form="online"))
    assert error < 1e-10, name


@pytest.mark.parametrize(("estimator", "cell"), UNDEFINED)
def test_where_it_is_not_defined_the_reason_is_given(estimator: str, cell: str) -> None:
    net, seq = network(0, cell, 3, 2, inputs=4), sequence(0, 3, 4)
    for form in ("credit", "online"):
        with pytest.raises(InvalidValueError, match=f"{estimator} is not defined on the {cell} cell: .+"):
            gradients(net, seq, estimator, form=form)
    with pytest.raises(InvalidValueError, match="is not defined on"):
        evaluate(net, seq, [estimator])


@pytest.mark.parametrize("estimator", NAMES)
def test_masked_weights_have_no_gradient(estimator: str) -> None:
    net, seq = network(3, "gru", 5, 4, "50%", 6), sequence(3, 12, 6)
    for form in ("credit", "online"):
        for name, value in gradients(net, seq, estimator, form=form).items():
            assert value.shape == net.theta[name].shape
            assert not value[~net.masks[name]].any()
    assert any((~mask).any() for mask in net.masks.values())


@pytest.mark.parametrize("estimator", NAMES)
def test_a_masked_weight_does_not_exist_whatever_its_number(estimator: str) -> None:
    net, seq = network(3, "additive", 5, 4, "50%", 6), sequence(3, 12, 6)
    wanted = gradients(net, seq, estimator, 0.01)
    for name, value in net.theta.items():
        value[~net.masks[name]] = 7.0
    for form in ("credit", "online"):
        error, where = relative_error(gradients(net, seq, estimator, 0.01, form), wanted)
        assert error < 1e-12, (form, where)


@pytest.mark.parametrize("estimator", NAMES)
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_finishing_changes_nothing(estimator: str, step_size: float | None) -> None:
    """After every step, windows of 3 half full or not: the gradient of the steps so far, asked for twice."""
    net, seq = network(6, "gru", 3, 2, "dense", 4, "release"), sequence(6, 7, 4)
    name = parse_estimator(estimator)
    online = get_online(name)
    memory, total = online.init(net, step_size), zeros(net.theta)
    assert not any(value.any() for value in online.finish(memory).values())
    for t in range(seq.steps):
        memory, step = online.step(memory, net.theta, seq.x[t], seq.y[t])
        add(total, step.gradient)
        wanted = gradients(net, Sequence(seq.x[: t + 1], seq.y[: t + 1]), estimator, step_size)
        for value in step.gradient.values():
            value.fill_(1e9)  # the caller's own: writing to it must not reach the estimator
        for _ in range(2):
            found, rest = {key: value.clone() for key, value in total.items()}, online.finish(memory)
            add(found, rest)
            error, where = relative_error(found, wanted)
            assert error < 1e-10, (t, where)
            for value in rest.values():
                value.fill_(1e9)


@pytest.mark.parametrize("estimator", NAMES)
def test_a_network_gets_the_same_gradient_alone_and_in_a_batch(estimator: str) -> None:
    nets = [network(seed, columns=4, width=3, lateral="30%", inputs=5) for seed in range(5)]
    seqs = [sequence(seed, 8, 5) for seed in range(5)]
    name = parse_estimator(estimator)
    together = engine_gradients(as_batch(nets, seqs), fast_forms([name]), 1e-2)[name]
    for i, (net, seq) in enumerate(zip(nets, seqs, strict=True)):
        error, where = relative_error(
            {k: torch.from_numpy(v[i]) for k, v in together.items()}, gradients(net, seq, estimator, 1e-2)
        )
        assert error < 1e-12, where


@pytest.mark.parametrize("estimator", NAMES)
@pytest.mark.parametrize("form", ["credit", "online"])
def test_parameters_and_data_are_left_alone(estimator: str, form: str) -> None:
    net, seq = network(4, columns=3, width=2, inputs=4), sequence(4, 5, 4)
    before = {name: value.clone() for name, value in net.theta.items()}
    gradients(net, seq, estimator, 0.01, form)
    assert all(torch.equal(net.theta[name], value) for name, value in before.items())
    assert not any(value.requires_grad for value in net.theta.values())


@pytest.mark.parametrize("estimator", NAMES)
def test_own_inputs_and_targets_of_any_length(estimator: str) -> None:
    generator = torch.Generator().manual_seed(0)
    seq = Sequence(torch.randn(83, 3, generator=generator).double(), torch.randn(83, generator=generator).double())
    net = network(0, "gru", columns=3, width=2, inputs=3, lateral="dense")
    found = gradients(net, seq, estimator, 0.01)
    assert all(value.isfinite().all() for value in found.values())
    assert sum(float(value.abs().sum()) for value in found.values()) > 0
