"""The statistics, against numbers worked out elsewhere."""

import math

import pandas as pd
import pytest

from colrun.verdicts.statistics import LEVEL, Estimate, estimate, holm, paired, ratio_of_means, spearman


def series(*values: float) -> "pd.Series[float]":
    return pd.Series(values, dtype=float)


def test_estimate() -> None:
    found = estimate(series(1.0, 2.0, 3.0, 4.0, math.nan))
    assert found == pytest.approx((2.5, math.sqrt(5 / 3) / 2, 4))
    assert math.isnan(estimate(series(1.0)).error)
    assert math.isnan(estimate(series()).value)


def test_ahead_is_more_than_two_standard_errors() -> None:
    assert Estimate(2.01, 1.0, 9).ahead
    assert not Estimate(2.0, 1.0, 9).ahead
    assert not Estimate(0.0, 0.0, 9).ahead
    assert Estimate(1e-9, 0.0, 9).ahead
    assert not Estimate(5.0, math.nan, 1).ahead
    assert Estimate(-2.01, 1.0, 9).behind
    assert not Estimate(-2.0, 1.0, 9).behind


def test_pairs_are_by_seed() -> None:
    first = pd.Series([1.0, 2.0, 4.0], index=[0, 1, 7])
    second = pd.Series([5.0, 1.0], index=[7, 1])
    assert paired(first, second).to_dict() == {1: 1.0, 7: -1.0}


def test_probabilities_are_those_of_the_normal_distribution() -> None:
    assert Estimate(2.0, 1.0, 9).p_above == pytest.approx(0.02275013, rel=1e-6)
    assert pytest.approx(0.02275013, rel=1e-6) == LEVEL
    assert Estimate(-1.0, 1.0, 9).p_above == pytest.approx(0.84134475, rel=1e-6)
    assert Estimate(-2.0, 1.0, 9).p_below == pytest.approx(0.02275013, rel=1e-6)
    assert (Estimate(1.0, 0.0, 9).p_above, Estimate(0.0, 0.0, 9).p_above) == (0.0, 1.0)
    assert Estimate(math.nan, 1.0, 9).p_above == 1.0


def test_spearman() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]) == pytest.approx(1 - 6 * 4 / 120)
    assert spearman([1, 2, 3], [1, 1, 2]) == pytest.approx(math.sqrt(3) / 2)  # ties share their rank
    assert math.isnan(spearman([1, 2, 3], [1, 1, 1]))
    assert math.isnan(spearman([1], [1]))


def test_holm() -> None:
    """The example of steps: 0.01 < 0.05/4, 0.013 < 0.05/3, 0.03 > 0.05/2, so the last two stay."""
    assert holm([0.03, 0.01, 0.04, 0.013], 0.05) == [False, True, False, True]
    assert holm([0.001, 0.9, 0.0], 0.05) == [True, False, True]
    assert holm([], 0.05) == []
    assert holm([0.05], 0.05) == [True]


def test_ratio_of_means() -> None:
    """By the delta method: residuals first - 1.5 second are -1, 1, 0, their standard error 1/√3, over a mean of 4."""
    found = ratio_of_means(series(2.0, 7.0, 9.0), series(2.0, 4.0, 6.0))
    assert found == pytest.approx((1.5, 1 / math.sqrt(3) / 4, 3))
    assert math.isnan(ratio_of_means(series(), series()).value)
    assert math.isnan(ratio_of_means(series(1.0, 1.0), series(0.0, 0.0)).value)
