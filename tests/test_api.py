"""The Python API: the README's example, and errors that say what would be right."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import colrun
from colrun.errors import InvalidValueError
from colrun.networks.readings import SWITCHES
from colrun.quality import MEASURED
from tests import oracle
from tests.oracle import relative_error

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_example_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    assert len(blocks[0].splitlines()) < 15
    scope: dict[str, Any] = {}
    exec(blocks[0], scope)
    assert scope["metrics"]["alignment"] > 0.9
    assert set(scope["truth"]) == {"A", "b", "B", "c", "U.p", "R.p"}
    exec(blocks[1], scope)
    assert scope["table"]["rtrl"]["cosine"] == pytest.approx(1)
    assert scope["table"]["tbptt-5"]["cosine"] > 0.5


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"cell": "gruu"}, "cell 'gruu' is not known.*one of additive.*Did you mean 'gru'"),
        ({"cell": None}, "cell None is not known"),
        ({"lateral": 20}, "lateral ratio 20 is above .* C-1 = 19.*between 0 and 19"),
        ({"lateral": "2000%"}, "lateral level '2000%': lateral ratio 20 is above .*between 0 and 19 .*1900%"),
        ({"lateral": "10%", "columns": 1}, "lateral level '10%'.* a single column has only lateral 0"),
        ({"lateral": 0.1, "columns": 1}, "lateral ratio 0.1 needs other columns"),
        ({"width": -3}, "width is -3; it must be a whole number, 0 or more"),
        ({"width": 2.5}, "width is 2.5; it must be a whole number"),
        ({"columns": 0}, "columns is 0"),
        ({"columns": True}, "columns is True"),
        ({"inputs": 0}, "inputs is 0"),
        ({"seed": -1}, "seed is -1; it must be a whole number, 0 or more"),
        ({"reading": "code"}, "reading 'code' is not known; it must be one of text, release"),
        ({"init": "he"}, "init 'he' is not known; it must be one of xavier, pytorch"),
        ({"own_state": 1}, "switch own_state is 1; it must be true or false"),
        ({"own_stat": True}, "switch 'own_stat' is not known.*Did you mean 'own_state'"),
        ({"colums": 5}, "argument or switch 'colums' is not known.*columns, .*Did you mean 'columns'"),
        ({"dtype": torch.float16}, "dtype torch.float16 must be torch.float32 or torch.float64"),
        ({"dtype": "float16"}, 'dtype \'float16\' must be .*"float32" or "float64"'),
        ({"dtype": None}, "dtype None must be"),
    ],
)
def test_bad_networks(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        colrun.network(**bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"lateral": "10%"}, "a dense network masks no weights, so it takes no lateral; leave it out"),
        ({"lateral": 0}, "takes no lateral"),
        ({"mask_recurrence": False}, "takes no mask_recurrence"),
        ({"mask_own_recurrence": True}, "takes no mask_own_recurrence"),
        ({"colums": 5}, "argument or switch 'colums' is not known.*Did you mean 'columns'"),
        ({"own_stat": True}, "Did you mean 'own_state'"),
    ],
)
def test_bad_dense_networks(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        colrun.dense_network(**bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"estimator": "tbptt-0"}, "window 0 of estimator 'tbptt-0' must be 1 or more"),
        ({"estimator": "tbptt--3"}, "window -3"),
        ({"estimator": "tbptt"}, "needs a window, such as tbptt-40"),
        ({"estimator": "tbptt-block"}, "needs a window, such as tbptt-block-40"),
        ({"estimator": "tbptt-1.5"}, "estimator 'tbptt-1.5' is not known.*a whole number after the name.*tbptt-40"),
        ({"estimator": "tbptt3"}, "'tbptt3' .*the window must be a whole number after the name, such as tbptt-40"),
        ({"estimator": "tbptt-block-k"}, "'tbptt-block-k' .*a whole number after the name, such as tbptt-block-40"),
        ({"estimator": "tbptt-blok-3"}, "'tbptt-blok-3' is not known.*Did you mean 'tbptt-block-k'"),
        ({"estimator": "master-user-3"}, "estimator 'master-user-3' is not known.*Did you mean 'master-user'"),
        ({"estimator": "bppt"}, "Did you mean 'bptt'"),
        ({"step_size": float("nan")}, "step size nan must be a finite number above 0"),
        ({"step_size": -0.1}, "step size -0.1 must be"),
        ({"step_size": float("inf")}, "step size inf must be"),
        ({"form": "fast"}, "form 'fast' is not known; it must be one of credit, torch, online"),
    ],
)
def test_bad_requests(bad: dict[str, Any], message: str) -> None:
    net, seq = colrun.network(columns=2, width=2, inputs=3), colrun.sequence(0, 4, 3)
    with pytest.raises(InvalidValueError, match=message):
        colrun.gradients(net, seq, **bad)


def test_network_and_sequence_must_fit() -> None:
    net = colrun.network(columns=2, width=2, inputs=3)
    with pytest.raises(InvalidValueError, match="has 4 inputs, the network takes 3"):
        colrun.gradients(net, colrun.sequence(0, 5, 4))
    single = colrun.sequence(0, 5, 3, dtype="float32")
    with pytest.raises(
        InvalidValueError, match=r'must agree: build the network with dtype="float32", or .* as float64'
    ):
        colrun.gradients(net, single)
    assert (
        colrun.gradients(colrun.network(columns=2, width=2, inputs=3, dtype="float32"), single)["A"].dtype
        == single.x.dtype
    )
    grads = colrun.gradients(net, colrun.sequence(0, 5, 3))
    with pytest.raises(InvalidValueError, match="truth does not have the names and shapes"):
        colrun.compare(net, {"A": grads["A"]}, grads)


def test_arguments_in_the_wrong_order() -> None:
    net, seq = colrun.network(columns=2, width=2, inputs=3), colrun.sequence(0, 5, 3)
    gradients: Any = colrun.gradients
    evaluate: Any = partial(colrun.evaluate, estimators=["bptt"])
    for call in (gradients, evaluate):
        with pytest.raises(InvalidValueError, match="first argument is a Sequence; it must be a network"):
            call(seq, net)
        with pytest.raises(
            InvalidValueError, match=r"second argument is a tuple; it must be a colrun.Sequence\(x, y\)"
        ):
            call(net, (seq.x, seq.y))
    compare: Any = colrun.compare
    grads = colrun.gradients(net, seq)
    with pytest.raises(InvalidValueError, match="first argument is a dict; it must be a network"):
        compare(grads, grads, net)
    with pytest.raises(InvalidValueError, match="estimate is a ColumnarNetwork; it must be gradients"):
        compare(net, grads, net)
    with pytest.raises(InvalidValueError, match=r"truth is a dict; .* a dict of named tensors"):
        compare(net, {name: value.numpy() for name, value in grads.items()}, grads)


def test_what_a_dense_network_offers() -> None:
    net, seq = colrun.dense_network(columns=2, width=2, inputs=3), colrun.sequence(0, 5, 3)
    online = colrun.gradients(net, seq, "tbptt-2", form="online")
    assert relative_error(colrun.gradients(net, seq, "tbptt-2"), online)[0] == 0  # the engine has none: it is what runs
    for estimator in ("master-user", "master-user-no-meta"):
        for form in ("credit", "online"):
            with pytest.raises(InvalidValueError, match=f"which {estimator} needs; use master-user-groups"):
                colrun.gradients(net, seq, estimator, form=form)
    with pytest.raises(InvalidValueError, match="use master-user-groups"):
        net.step(net.theta, seq.x[0], net.initial_state(), stop_lateral=True)
    truth = colrun.gradients(net, seq, form="online")
    assert colrun.compare(net, truth, truth)["cosine"] == pytest.approx(1)
    found = colrun.evaluate(net, seq, ["tbptt-2", "uoro"], 0.01, draws=3)
    truth = colrun.gradients(net, seq, "bptt", 0.01)
    wanted = colrun.compare(net, truth, colrun.gradients(net, seq, "tbptt-2", 0.01))
    assert {name: found["tbptt-2"][name] for name in MEASURED} == pytest.approx(wanted)
    assert found["uoro"]["variance"] > 0
    assert found["uoro"]["max_error"] == pytest.approx(oracle.max_error(net, seq, 0.01))
    assert found["uoro"]["diverged"] is False
    with pytest.raises(InvalidValueError, match="a dense network has no groups of weights"):
        colrun.evaluate(net, seq, ["bptt"], by_group=True)


def test_a_window_of_any_size() -> None:
    net, seq = colrun.network(columns=2, width=2, inputs=3, init="pytorch"), colrun.sequence(0, 5, 3)
    truth = colrun.gradients(net, seq)
    for estimator in (f"tbptt-{10**17}", f"tbptt-block-{10**17}"):
        for form in ("credit", "online"):
            error, where = relative_error(colrun.gradients(net, seq, estimator, form=form), truth)
            assert error < 1e-12, where


def test_evaluate() -> None:
    net, seq = colrun.network(columns=3, width=4, inputs=5, lateral="dense", init="pytorch"), colrun.sequence(1, 9, 5)
    found = colrun.evaluate(net, seq, ["master-user", "tbptt-3"], 1e-3)
    truth, estimate = (colrun.gradients(net, seq, name, 1e-3) for name in ("bptt", "tbptt-3"))
    assert list(found) == ["master-user", "tbptt-3"]
    compared = {name: found["tbptt-3"][name] for name in MEASURED}
    assert compared == pytest.approx(colrun.compare(net, truth, estimate), rel=1e-9)
    assert found["tbptt-3"]["max_error"] == pytest.approx(oracle.max_error(net, seq, 1e-3))
    assert found["tbptt-3"]["diverged"] is False
    with pytest.raises(InvalidValueError, match="Did you mean 'bptt'"):
        colrun.evaluate(net, seq, "bppt")
    with pytest.raises(InvalidValueError, match="step size 0 must be"):
        colrun.evaluate(net, seq, "bptt", 0)


def test_help_names_the_switches() -> None:
    assert all(f"`{switch}`" in str(colrun.network.__doc__) for switch in SWITCHES)


def test_bad_sequences() -> None:
    with pytest.raises(InvalidValueError, match="steps is 0"):
        colrun.sequence(0, steps=0)
    with pytest.raises(InvalidValueError, match=r"dtype torch.int64 must be"):
        colrun.sequence(0, dtype=torch.int64)
    assert torch.equal(colrun.sequence().x, colrun.sequence(seed=0).x)


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'grdients'"):
        colrun.grdients  # noqa: B018
    assert "gradients" in dir(colrun)


def test_the_form_torch_is_credit_with_a_warning() -> None:
    net, seq = colrun.network(3, "gru", 3, 2, "50%", 4), colrun.sequence(3, 6, 4)
    with pytest.warns(FutureWarning, match='form="torch" is "credit" now'):
        found = colrun.gradients(net, seq, "tbptt-2", 0.01, "torch")
    wanted = colrun.gradients(net, seq, "tbptt-2", 0.01)
    assert all(torch.equal(found[name], value) for name, value in wanted.items())
