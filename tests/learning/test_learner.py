"""`colrun.learner` step by step, against the literal form of every learner (tests/learning_oracle.py)."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

import colrun
from colrun.errors import InvalidValueError
from colrun.networks.columnar import build
from tests import learning_oracle
from tests.lanes.cases import architecture, flat, given, pairwise

STEPS, ETA = 40, 3e-3


CASES = [case for case in pairwise() if not (case[-1] == 0 and str(case[0]).startswith(("snap", "kf-rtrl")))]


@pytest.mark.parametrize(("learner", "cell", "lateral", "optimiser", "meta", "width"), CASES)
def test_every_learner_is_its_literal_form(
    learner: str, cell: str, lateral: float | str, optimiser: str, meta: bool, width: int
) -> None:
    """The first 9 steps are not counted."""
    network = architecture(cell, 3, width, lateral)
    (stream,) = given([1], STEPS)
    found = colrun.learner(build(network, 1), learner, optimiser=optimiser, theta_step_size=ETA, meta=meta)
    plain = learning_oracle.Learner(network, 1, learner, optimiser, ETA, meta)
    errors = 0.0
    for x, y, counted in zip(stream.x, stream.y, stream.counted, strict=True):
        step = found.step(x, y, bool(counted))
        errors += step.error**2 * counted
        assert step.prediction + step.error == pytest.approx(y)
    plain.run(stream)
    np.testing.assert_allclose(flat({k: v.numpy() for k, v in found.theta.items()}), plain.theta, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.w, plain.w, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.state.flatten(), plain.s, rtol=0, atol=1e-11)
    assert errors == pytest.approx(plain.errors, abs=1e-11)


def test_a_run_gives_the_curve_that_its_steps_give(tmp_path: Path) -> None:
    """By compiled kernels, which start from the network's own weights; saved in the middle, it goes on as it would."""
    net = colrun.network(3, "mgu", 4, 0, "dense", 2, "practical")
    stepwise, compiled = (colrun.learner(net, "tbptt-3", theta_step_size=ETA) for _ in range(2))
    (stream,) = given([3], 200)
    errors = []
    for x, y, counted in zip(stream.x, stream.y, stream.counted, strict=True):
        error = stepwise.step(x, y, bool(counted)).error
        errors.append(error**2 if counted else np.nan)
    curve = compiled.run("add-5-9", 200, bins=4)
    assert curve["step"].tolist() == [50, 100, 150, 200]
    assert curve["mse"].to_numpy() == pytest.approx(np.nanmean(np.reshape(errors, (4, 50)), axis=1), abs=1e-9)
    compiled.save(tmp_path / "learner.pt")
    again = colrun.Learner.load(tmp_path / "learner.pt")
    (longer,) = given([3], 203)
    for x, y in zip(longer.x[200:], longer.y[200:], strict=True):
        steps = [each.step(x, y, gradient=True) for each in (stepwise, compiled, again)]
        assert steps[1][:2] == steps[2][:2]
        assert steps[1].prediction == pytest.approx(steps[0].prediction, abs=1e-9)
        for name, value in (steps[0].gradient or {}).items():
            for step in steps[1:]:
                assert step.gradient is not None
                np.testing.assert_allclose(step.gradient[name], value, rtol=0, atol=1e-9)
    assert again.steps == stepwise.steps == 203


def test_its_network_can_be_looked_at() -> None:
    net = colrun.network(0, "mgu", 4, 2, "dense", 2, "practical")
    learner = colrun.learner(net, "rtrl")
    for x, y in zip(*given([0], 30)[0][:2], strict=True):
        learner.step(x, y)
    seen = learner.network
    assert torch.equal(seen.theta["A"], learner.theta["A"])
    assert not torch.equal(seen.theta["A"], net.theta["A"])
    found = colrun.evaluate(seen, colrun.sequence(0, 20, 2), ["rtrl"])
    assert found["rtrl"]["alignment"] == 1.0


def test_a_users_own_cell_learns(tmp_path: Path) -> None:
    torch.manual_seed(0)
    own = colrun.own_network(torch.nn.GRUCell(2, 6).double())
    for estimator in ("rtrl", "tbptt-12", "uoro"):
        learner = colrun.learner(own, estimator, theta_step_size=1e-2)
        curve = learner.run("add-1-2", 1500, bins=5)
        assert curve["mse"].iloc[-1] < 0.7 * curve["mse"].iloc[0], estimator
    learner.save(tmp_path / "own.pt")
    assert torch.equal(colrun.Learner.load(tmp_path / "own.pt").w, learner.w)


def test_a_learner_that_diverges_says_when() -> None:
    learner = colrun.learner(colrun.network(0, "mgu", 4, 0, 0.0, 2, "practical"), "tbptt-3", step_size=500.0)
    curve = learner.run("add-1-2", 1000, bins=10)
    assert learner.diverged_at is not None
    assert curve["mse"].isna().tolist() == [True] * 10
    with pytest.raises(InvalidValueError, match=f"diverged at step {learner.diverged_at}"):
        learner.step([1.0, 0.0], 0.5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"estimator": "bptt"}, "bptt cannot learn online: its gradient is known only when the sequence has ended"),
        ({"estimator": "master-user-no-meta"}, "master-user with meta = false"),
        ({"optimiser": "momentum"}, "optimiser 'momentum' is not known"),
        ({"theta_step_size": 0}, "theta_step_size is 0; it must be a finite number above 0"),
        ({"theta_step_size": None}, "theta_step_size is None"),
        ({"step_size": -1}, "step size -1 must be a finite number above 0"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        colrun.learner(colrun.network(columns=2, width=2, inputs=2), **given)  # type: ignore[arg-type]


def test_bad_steps_are_refused_and_change_nothing() -> None:
    learner = colrun.learner(colrun.network(0, "mgu", 3, 0, 0.0, 2, "practical"))
    before = copy.deepcopy(learner.theta)
    for x, y, said in (([1.0], 1.0, "2 numbers and one target"), ([1.0, np.nan], 1.0, "step 1 holds a value"),
                       ([1.0, 0.0], np.inf, "not finite")):  # fmt: skip
        with pytest.raises(InvalidValueError, match=said):
            learner.step(x, y)
    assert learner.steps == 0
    assert all(torch.equal(value, before[name]) for name, value in learner.theta.items())
    with pytest.raises(InvalidValueError, match="task cue-8-12 has 4 inputs, and the network takes 2"):
        learner.run("cue-8-12", 10)
