"""Metrics on numbers small enough to check by eye."""

import math

import numpy as np
import pytest

import colrun
from colrun.api import as_batch
from colrun.engine.measure import measure
from colrun.engine.metrics import compare, diverged
from colrun.estimators import fast_forms, parse_estimator
from colrun.networks.base import Gradients
from colrun.quality import BY_GROUP, GROUP_METRICS, GROUPS
from colrun.streams import Array


def numpy(tensors: Gradients) -> dict[str, Array]:
    return {name: value.numpy() for name, value in tensors.items()}


def metrics(truth: list[float], estimate: list[float], exists: list[bool] | None = None) -> dict[str, float]:
    mask = np.array([exists or [True] * len(truth)])
    found = compare({"v": np.array([truth])}, {"v": np.array([estimate])}, {"v": mask})
    return {name: float(value[0]) for name, value in found.items()}


def test_by_eye() -> None:
    found = metrics([1.0, -2.0, 3.0, 0.0, 4.0], [2.0, -1.0, -3.0, 5.0, 0.0])
    assert found["compared"] == 4  # the zero truth is left out
    assert found["alignment"] == 2 / 4  # +, +, wrong sign, -, zero estimate
    assert found["alignment_released"] == 2 / 3  # zero products are left out
    assert found["mae"] == pytest.approx((1 + 1 + 6 + 5 + 4) / 5)
    assert found["mean_abs_truth"] == pytest.approx(10 / 5)
    assert found["cosine"] == pytest.approx((2 + 2 - 9) / math.sqrt(30 * 39))
    assert found["norm_ratio"] == pytest.approx(math.sqrt(39 / 30))


def test_masked_weights_have_no_place_in_any_average() -> None:
    truth, estimate = [1.0, -2.0, 7.0], [1.0, 2.0, -7.0]
    assert metrics(truth, estimate, [True, True, False]) == metrics(truth[:2], estimate[:2])


def test_the_released_threshold() -> None:
    found = metrics([1e-6, 1e-6, 1.0], [1e-5, -2e-4, 1.0])
    assert found["alignment"] == pytest.approx(2 / 3)
    assert found["alignment_released"] == pytest.approx(1 / 2)  # 1e-11 is left out, -2e-10 and 1 are not


def test_undefined_is_nan_and_not_divergence() -> None:
    found = metrics([0.0, 0.0], [1.0, 0.0])
    assert [name for name, value in found.items() if math.isnan(value)] == [
        "alignment",
        "alignment_released",
        "cosine",
        "norm_ratio",
    ]
    assert found["mae"] == 0.5
    assert not diverged(
        np.array([3.0]), compare({"v": np.zeros((1, 2))}, {"v": np.zeros((1, 2))}, {"v": np.ones((1, 2), dtype=bool)})
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nothing_can_be_said_where_a_gradient_is_not_finite(bad: float) -> None:
    for truth, estimate in (([1.0, bad], [1.0, 2.0]), ([1.0, 2.0], [1.0, bad])):
        found = metrics(truth, estimate)
        assert found.pop("compared") == 2  # a count, not a verdict
        assert all(math.isnan(value) for value in found.values())
        assert metrics([*truth, 3.0], [*estimate, 3.0], [True, False, True]) == metrics([1.0, 3.0], [1.0, 3.0])


def test_one_network_that_is_not_finite_leaves_the_others_alone() -> None:
    truth = {"v": np.array([[1.0, math.nan], [1.0, 2.0]]), "u": np.ones((2, 1))}
    found = compare(truth, {"v": np.ones((2, 2)), "u": np.ones((2, 1))}, {"v": truth["v"] != 0, "u": truth["u"] != 0})
    assert np.isnan(found["mae"]).tolist() == [True, False]
    assert float(found["mae"][1]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_cosine_of_very_small_and_large_gradients(scale: float) -> None:
    value = np.array([[scale, 2 * scale]])
    found = compare({"v": value}, {"v": value}, {"v": value != 0})
    assert float(found["cosine"][0]) == pytest.approx(1)


@pytest.mark.parametrize(("error", "value", "bad"), [(1000.0, 0.0, False), (1000.1, 0.0, True), (math.nan, 0.0, True),
                                                     (1.0, math.inf, True), (1.0, math.nan, True)])  # fmt: skip
def test_diverged(error: float, value: float, bad: bool) -> None:
    exists = {"v": np.ones((1, 1), dtype=bool)}
    good, other = {"v": np.ones((1, 1))}, {"v": np.array([[value]])}
    for truth, estimate in ((good, other), (other, good), (other, other)):
        assert bool(diverged(np.array([error]), compare(truth, estimate, exists))) is bad


def test_sums_are_kept_in_float64() -> None:
    """A float32 sum of 2^25 ones stops at 2^24."""
    n = 2**24 + 2**12
    ones = np.ones((1, n), dtype=np.float32)
    assert float(compare({"v": ones}, {"v": 2 * ones}, {"v": ones.astype(bool)})["mean_abs_truth"][0]) == 1.0


@pytest.mark.parametrize("reading", ["text", "release"])
def test_groups_are_the_metrics_of_their_weights_alone(reading: str) -> None:
    """Each group against the whole metric of a network from which all other weights were taken away."""
    net, seq = colrun.network(3, "gru", 4, 3, "60%", 5, reading), colrun.sequence(3, 9, 5)
    truth, estimate = (numpy(colrun.gradients(net, seq, name)) for name in ("bptt", "tbptt-2"))
    exists = numpy(net.masks)
    name = parse_estimator("tbptt-2")
    found = measure(as_batch([net], [seq]), fast_forms([name]), by_group=True)[name]
    own = np.eye(4, dtype=bool)[..., None]
    wanted = {
        "first": {"A": exists["A"], "b": exists["b"]},
        "second": {"B": exists["B"], "c": exists["c"]},
        "own": {key: mask & own for key, mask in exists.items() if key[0] == "U"}
        | {key: mask for key, mask in exists.items() if key[0] == "q"},
        "lateral": {key: mask & ~own for key, mask in exists.items() if key[0] == "U"},
        "recurrent": {key: mask for key, mask in exists.items() if key[0] == "R"},
    }
    assert list(wanted) == list(GROUPS)
    assert sum(int(mask.sum()) for masks in wanted.values() for mask in masks.values()) == net.parameter_count
    for group, masks in wanted.items():
        one = [{key: value[None] for key, value in given.items()} for given in (truth, estimate, masks)]
        for metric in BY_GROUP:
            alone = float(compare(*one)[metric][0])
            assert float(found[f"{metric}_{group}"][0]) == pytest.approx(alone, rel=1e-9, nan_ok=True), (group, metric)
    plain = measure(as_batch([net], [seq]), fast_forms([name]))[name]
    assert set(found) - set(plain) == set(GROUP_METRICS)
