"""While θ moves: every ĝ(t) of every estimator against its definition by autograd, on every named tensor."""

import copy
import pickle
from functools import cache

import pytest
import torch

from colrun import Sequence, evaluate, gradients, network, sequence
from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS, EstimatorName, get_online, parse_estimator, why_undefined
from colrun.estimators.online import Step, add, zeros
from colrun.networks.base import Gradients
from colrun.networks.cells import CELLS
from tests import moving, oracle
from tests.moving import Course

STEPS = 7
NAMES = [f"{name}-3" if entry.windowed else name for name, entry in ESTIMATORS.items()] + ["snap-1"]
DEFINED = [(name, cell) for name in NAMES for cell in CELLS if not why_undefined(parse_estimator(name).family, cell)]
LEARNING = [(None, False), (0.02, True), (0.02, False)]
"""α, and whether gradients go through LMS."""
MOST = [True, True, False, True, False, False, True]
"""Counted steps of a stream in which some are not."""


@cache
def course(cell: str, reading: str, learning: tuple[float | None, bool], counted: tuple[bool, ...]) -> Course:
    """The first seed whose gradient reaches the first layer."""
    switches = {"init": "pytorch", "state_bias": True}
    for seed in range(100):
        net, seq = network(seed, cell, 3, 2, "60%", 3, reading, **switches), sequence(seed, STEPS, 3)  # type: ignore[arg-type]
        if all(net.masks[f"U.{gate}"].sum() > 6 for gate in net.gates) and gradients(net, seq)["A"].abs().sum() > 0.1:
            return Course(net, moving.walk(net, STEPS), seq.x, 0.1 * seq.y, list(counted), *learning)
    raise AssertionError("no seed gives a gradient")


def run(given: Course, name: EstimatorName, draw: int = 0) -> tuple[list[Step], Gradients]:
    online = get_online(name, draw)
    memory, found = online.init(given.net, given.alpha, given.meta), []
    for theta, x_t, y_t, counted in zip(given.path, given.x, given.y, given.counted, strict=True):
        memory, step = online.step(memory, theta, x_t, y_t, counted)
        found.append(step)
    return found, online.finish(memory)


def assert_equal(found: Gradients, wanted: Gradients | None, where: object) -> None:
    if wanted is None:
        assert found == {}, where
    else:
        error, name = oracle.relative_error(found, wanted)
        assert error < 1e-9, (where, name, error)


@pytest.mark.parametrize(("estimator", "cell"), DEFINED)
@pytest.mark.parametrize("learning", LEARNING, ids=str)
@pytest.mark.parametrize("counted", [[True] * STEPS, MOST], ids=["all", "some"])
def test_every_step_is_that_of_the_definition(
    estimator: str, cell: str, learning: tuple[float | None, bool], counted: list[bool]
) -> None:
    given = course(cell, "release" if cell in ("gru", "additive") else "text", learning, tuple(counted))
    steps, rest = run(given, parse_estimator(estimator), draw=2)
    wanted, still_open = moving.expected(given, estimator, draw=2)
    for t, (step, gradient) in enumerate(zip(steps, wanted, strict=True)):
        assert_equal(step.gradient, gradient, t)
        torch.testing.assert_close(step.state.flatten(), given.locals[t].s, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(step.error, given.delta(t), rtol=1e-11, atol=1e-12)
        torch.testing.assert_close(step.prediction, given.y[t] - given.delta(t), rtol=1e-11, atol=1e-12)
    assert_equal(rest, still_open, "finish")
    assert any(gradient["A"].any() for gradient in [*wanted, still_open] if gradient is not None)


def test_the_path_moves_and_matters() -> None:
    """The comparisons above would also pass if all took θ(0), or if traces were made anew at every θ."""
    given = course("gru", "release", (0.02, True), (True,) * STEPS)
    still = Course(given.net, [given.net.theta] * STEPS, given.x, given.y, given.counted, 0.02, True)
    anew = Course(given.net, [given.path[-1]] * STEPS, given.x, given.y, given.counted, 0.02, True)
    last = moving.exact(given)[-1]
    for other in (still, anew):
        different = moving.exact(other)[-1]
        assert last is not None
        assert different is not None
        assert oracle.relative_error(different, last)[0] > 0.01


@pytest.mark.parametrize("estimator", ["rtrl", "tbptt-50", "snap-50"])
def test_the_sum_of_exact_steps_is_bptt_while_theta_moves(estimator: str) -> None:
    given = course("mgu", "text", (0.02, True), (True,) * STEPS)
    steps, _ = run(given, parse_estimator(estimator))
    total = zeros(given.net.theta)
    for step in steps:
        add(total, step.gradient)
    assert_equal(total, run(given, parse_estimator("bptt"))[1], estimator)


@pytest.mark.parametrize("estimator", NAMES)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda memory: pickle.loads(pickle.dumps(memory))])
def test_a_memory_can_be_gone_back_to_copied_and_saved(estimator: str, copied: object) -> None:
    """Half way, graphs and all: what follows is the same bit by bit."""
    given = course("gru", "release", (0.02, True), (True,) * STEPS)
    online = get_online(parse_estimator(estimator))
    assert callable(copied)
    memory, saved, found = online.init(given.net, given.alpha), None, []
    for t, theta in enumerate(given.path):
        if t == 4:
            kept, saved = memory, copied(memory)
        memory, step = online.step(memory, theta, given.x[t], given.y[t])
        found.append(step.gradient)
    found.append(online.finish(memory))
    for again in (kept, saved):
        later = []
        for t in range(4, STEPS):
            again, step = online.step(again, given.path[t], given.x[t], given.y[t])
            later.append(step.gradient)
        later.append(online.finish(again))
        for one, other in zip(later, found[4:], strict=True):
            assert one.keys() == other.keys()
            assert all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize("estimator", NAMES)
def test_theta_is_neither_written_to_nor_copied_while_it_stands_still(estimator: str) -> None:
    given = course("mgu", "text", (None, False), (True,) * STEPS)
    before = {name: value.clone() for name, value in given.net.theta.items()}
    online = get_online(parse_estimator(estimator))
    memory = online.init(given.net)
    first = None
    for t in range(STEPS):
        memory, _ = online.step(memory, given.net.theta, given.x[t], given.y[t])
        weights = [value.data_ptr() for value in memory.weights()]
        first = weights if first is None else first
        assert weights == first
    assert all(torch.equal(value, before[name]) for name, value in given.net.theta.items())
    assert not any(value.requires_grad for value in given.net.theta.values())


def test_uncounted_steps_of_a_sequence() -> None:
    """The gradient of the losses that count, through all steps; w stands still at the others."""
    given = course("lstm", "text", (0.02, True), tuple(MOST))
    still = Course(given.net, [given.net.theta] * STEPS, given.x, given.y, MOST, 0.02, True)
    wanted = still.loss_gradient(0, range(STEPS))
    assert wanted is not None
    seq = Sequence(given.x, given.y, MOST)
    for estimator in ("bptt", "rtrl", "tbptt-50", "snap-50"):
        for form in ("credit", "online"):
            assert_equal(gradients(given.net, seq, estimator, 0.02, form), wanted, (estimator, form))
    found = evaluate(given.net, seq, ["rtrl"], 0.02)["rtrl"]
    assert found["cosine"] == pytest.approx(1)
    assert found["max_error"] == pytest.approx(max(abs(float(still.delta(t))) for t in range(STEPS) if MOST[t]))
    with pytest.raises(InvalidValueError, match="counted must be one bool per step, 7 of them"):
        Sequence(given.x, given.y, MOST[:3])
