"""The Python API: the README's example, and errors that say what would be right."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

import colrun
from colrun.errors import InvalidValueError

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_example_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 1
    assert len(blocks[0].splitlines()) < 15
    scope: dict[str, Any] = {}
    exec(blocks[0], scope)
    assert scope["metrics"]["alignment"] > 0.9
    assert set(scope["truth"]) == {"A", "b", "B", "c", "U.p", "R.p"}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"cell": "gruu"}, "cell 'gruu' is not known.*one of additive.*Did you mean 'gru'"),
        ({"cell": None}, "cell None is not known"),
        ({"lateral": 20}, "lateral ratio 20 is above .* C-1 = 19.*between 0 and 19"),
        ({"lateral": "2000%"}, "lateral ratio 20 is above"),
        ({"width": -3}, "width is -3; it must be a whole number, 1 or more"),
        ({"width": 2.5}, "width is 2.5; it must be a whole number"),
        ({"columns": 0}, "columns is 0"),
        ({"columns": True}, "columns is True"),
        ({"inputs": 0}, "inputs is 0"),
        ({"seed": -1}, "seed is -1; it must be a whole number, 0 or more"),
        ({"reading": "code"}, "reading 'code' is not known; it must be one of text, release"),
        ({"init": "he"}, "init 'he' is not known; it must be one of xavier, pytorch"),
        ({"own_state": 1}, "switch own_state is 1; it must be true or false"),
        ({"own_stat": True}, "switch 'own_stat' is not known.*Did you mean 'own_state'"),
        ({"dtype": torch.float16}, "dtype torch.float16 must be torch.float32 or torch.float64"),
    ],
)
def test_bad_networks(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        colrun.network(**bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"estimator": "tbptt-0"}, "window 0 of estimator 'tbptt-0' must be 1 or more"),
        ({"estimator": "tbptt--3"}, "window -3"),
        ({"estimator": "tbptt"}, "needs a window, such as tbptt-40"),
        ({"estimator": "tbptt-block"}, "needs a window, such as tbptt-block-40"),
        ({"estimator": "tbptt-1.5"}, "estimator 'tbptt-1.5' is not known"),
        ({"estimator": "master-user-3"}, "estimator 'master-user-3' is not known.*Did you mean 'master-user'"),
        ({"estimator": "bppt"}, "Did you mean 'bptt'"),
        ({"step_size": float("nan")}, "step size nan must be a finite number above 0"),
        ({"step_size": -0.1}, "step size -0.1 must be"),
        ({"step_size": float("inf")}, "step size inf must be"),
        ({"form": "fast"}, "form 'fast' is not known; it must be one of credit, online"),
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
    with pytest.raises(InvalidValueError, match="must agree"):
        colrun.gradients(net, colrun.sequence(0, 5, 3, dtype=torch.float32))
    with pytest.raises(InvalidValueError, match='use form="online"'):
        colrun.gradients(colrun.dense_network(columns=2, width=2, inputs=3), colrun.sequence(0, 5, 3))
    grads = colrun.gradients(net, colrun.sequence(0, 5, 3))
    with pytest.raises(InvalidValueError, match="truth does not have the names and shapes"):
        colrun.compare(net, {"A": grads["A"]}, grads)


def test_bad_sequences() -> None:
    with pytest.raises(InvalidValueError, match="steps is 0"):
        colrun.sequence(0, steps=0)


def test_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'grdients'"):
        colrun.grdients  # noqa: B018
    assert "gradients" in dir(colrun)
