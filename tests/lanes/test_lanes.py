"""Learners in lanes against their plain forms in torch (tests/learning_oracle.py)."""

import numpy as np
import pytest
import torch

from colrun.lanes.run import Lanes
from colrun.networks.architecture import Architecture
from tests.lanes.cases import LEARNERS, architecture, flat, given, pairwise, run, stacked
from tests.learning_oracle import Learner

STEPS, ETA = 200, 3e-3


def assert_same(lanes: Lanes, lane: int, plain: Learner) -> None:
    np.testing.assert_allclose(flat(lanes.theta(lane)), plain.theta.numpy(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(lanes.w(lane), plain.w.numpy(), rtol=0, atol=1e-9)
    np.testing.assert_allclose(lanes.states(lane).reshape(-1), plain.s.numpy(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("learner", "cell", "lateral", "optimiser", "meta", "width"), list(pairwise()))
def test_lanes_learn_as_the_plain_form_does(
    learner: str, cell: str, lateral: float | str, optimiser: str, meta: bool, width: int
) -> None:
    """200 steps, of which the first 9 are not counted. The second lane makes masks differ within a group."""
    network = architecture(cell, 3, width, lateral)
    streams = given([1, 2], STEPS)
    lanes = Lanes(network, learner, [1, 2], [ETA, ETA], optimiser=optimiser, meta=meta, dtype="float64")
    sums = run(lanes, streams)
    plain = Learner(network, 1, learner, optimiser, ETA, meta).run(streams[0])
    assert_same(lanes, 0, plain)
    assert sums.errors[0] == pytest.approx(plain.errors, abs=1e-9)
    assert sums.counts.tolist() == [STEPS - 9] * 2
    moved = np.abs(flat(lanes.theta(0)) - plain.net.theta.numpy()).max()
    assert (moved > 1e-4) == (learner != "frozen")


@pytest.mark.parametrize("learner", [name for name in LEARNERS if "rflo" not in name])
def test_other_cells(learner: str) -> None:
    """The additive cell is unstable: rounding errors grow fast, so these runs are short."""
    for cell, alpha, steps in (("feedforward", None, 60), ("additive", 1e-5, 20)):
        network = architecture(cell, 3, 4, 0.6)
        streams = given([3], steps)
        lanes = Lanes(network, learner, [3], [ETA], meta=True, alpha=alpha, dtype="float64")
        run(lanes, streams)
        assert_same(lanes, 0, Learner(network, 3, learner, "rmsprop", ETA, True, alpha).run(streams[0]))


@pytest.mark.parametrize("learner", LEARNERS)
def test_readings_other_than_practical(learner: str) -> None:
    """No biases of gates and zero ones of layers; and R_ii masked, so that rows may be empty."""
    for reading in ("text", "release"):
        network = Architecture.of("gru", 3, 4, 0.6, 2, reading)
        streams = given([4], 40)
        lanes = Lanes(network, learner, [4], [ETA], dtype="float64", readout_bias=False)
        run(lanes, streams)
        assert_same(lanes, 0, Learner(network, 4, learner, "rmsprop", ETA, False, bias=False).run(streams[0]))


@pytest.mark.parametrize("width", [0, 5])
@pytest.mark.parametrize("cell", ["mgu", "gru", "lstm"])
def test_without_laterals_master_user_learns_as_rtrl(cell: str, width: int) -> None:
    streams = given([0, 1, 2], STEPS)
    found = []
    for learner in ("rtrl", "master-user", "snap-1"):
        lanes = Lanes(architecture(cell, 5, width, 0.0), learner, [0, 1, 2], [ETA] * 3, dtype="float64")
        run(lanes, streams)
        found.append([flat(lanes.theta(lane)) for lane in range(3)])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("meta", [False, True])
@pytest.mark.parametrize("width", [0, 5])
def test_a_window_that_is_long_enough_learns_as_rtrl(width: int, meta: bool) -> None:
    streams = given([0, 1], 100)
    found = []
    for learner in ("rtrl", "tbptt-100", "tbptt-150"):
        lanes = Lanes(architecture("lstm", 4, width, 0.6), learner, [0, 1], [ETA] * 2, meta=meta, dtype="float64")
        run(lanes, streams)
        found.append([flat(lanes.theta(lane)) for lane in range(2)])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found[2], found[1])


@pytest.mark.parametrize("window", [1, 2, 3])
def test_truncated_gradients_by_finite_differences(window: int) -> None:
    """ĝ(T) is the change of L(T) with θ in its last k steps, from the state before them."""
    T, network = 20, architecture("gru", 3, 0, "dense")
    streams = given([5], T)
    sums = []
    for end in (T - 1, T):
        lanes = Lanes(network, f"tbptt-{window}", [5], [0.0], optimiser="sum", alpha=0.0, dtype="float64")
        run(lanes, streams, 0, end)
        sums.append(flat(lanes.summed(0)))
    plain = Learner(network, 5, "frozen", "sgd", 0.0, False, alpha=0.0)
    x, y = torch.from_numpy(streams[0].x), streams[0].y

    def loss(theta: torch.Tensor) -> float:
        s = torch.zeros(plain.net.P).double()
        for t in range(T):
            s = plain.net.step(theta if t >= T - window else plain.theta, x[t], s).s
        return 0.5 * float(y[T - 1] - plain.readout(plain.w, s)) ** 2

    for n in range(0, len(plain.theta), 3):
        bump = torch.zeros_like(plain.theta)
        bump[n] = 1e-5
        assert sums[1][n] - sums[0][n] == pytest.approx(
            (loss(plain.theta + bump) - loss(plain.theta - bump)) / 2e-5, abs=1e-8
        )


def test_a_lane_that_diverges_ends_and_disturbs_nobody() -> None:
    network, streams = architecture("mgu", 4), given([0, 1, 2], 300)
    alone = Lanes(network, "rtrl", [0, 2], [ETA, ETA])
    run(alone, [streams[0], streams[2]])
    lanes = Lanes(network, "rtrl", [0, 1, 2], [ETA, ETA, ETA])
    x, y, counted = stacked(streams)
    y[150, 1] = np.nan
    sums = lanes.run(x, y, counted)
    assert lanes.ended.tolist() == [-1, 150, -1]
    assert sums.counts.tolist() == [291, 141, 291]
    for here, there in ((0, 0), (2, 1)):
        np.testing.assert_array_equal(flat(lanes.theta(here)), flat(alone.theta(there)))
    assert np.isfinite(sums.errors).all()
    large = Lanes(network, "rtrl", [0], [1e-3], alpha=3.0)
    run(large, streams[:1])
    assert large.ended[0] > 9


def test_a_value_that_is_not_finite_at_an_uncounted_step_ends_nothing() -> None:
    x, y, counted = stacked(given([0], 30))
    y[3] = np.inf
    lanes = Lanes(architecture(), "master-user", [0], [ETA])
    sums = lanes.run(x, y, counted)
    assert lanes.ended.tolist() == [-1]
    assert np.isfinite(sums.errors).all()
    assert np.isfinite(flat(lanes.theta(0))).all()
