"""The statistics behind verdicts. What is not a number compares as false, so it never decides for a claim."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

AHEAD = 2.0
"""Standard errors by which a mean must exceed 0 to count as ahead."""
LEVEL = 0.5 * math.erfc(AHEAD / math.sqrt(2))
"""The same as a one-sided probability of the normal distribution: 0.0228."""


class Estimate(NamedTuple):
    """A mean over networks, its standard error sd/√n, and n."""

    value: float
    error: float
    n: int

    @property
    def ahead(self) -> bool:
        """Above 0 by more than two standard errors."""
        return bool(self.value > AHEAD * self.error)

    @property
    def behind(self) -> bool:
        """Below 0 by more than two standard errors."""
        return bool(self.value < -AHEAD * self.error)

    @property
    def p_above(self) -> float:
        """One-sided probability of such a mean, or a higher one, were the true mean 0.

        By the normal distribution, as "two standard errors" is; with few networks it is a little too small.
        """
        return _tail(self.value, self.error)

    @property
    def p_below(self) -> float:
        """The same for such a mean, or a lower one."""
        return _tail(-self.value, self.error)


def _tail(value: float, error: float) -> float:
    if math.isnan(value) or math.isnan(error):
        return 1.0
    if error == 0:
        return 0.0 if value > 0 else 1.0
    return 0.5 * math.erfc(value / error / math.sqrt(2))


def estimate(values: "pd.Series[float]") -> Estimate:
    """Mean and standard error over networks; undefined values are left out."""
    return _estimate(values.to_numpy().astype(float))


def _estimate(values: NDArray[np.float64]) -> Estimate:
    kept = values[~np.isnan(values)]
    mean = float(kept.mean()) if len(kept) else math.nan
    error = float(kept.std(ddof=1)) / math.sqrt(len(kept)) if len(kept) > 1 else math.nan
    return Estimate(mean, error, len(kept))


def paired(first: "pd.Series[float]", second: "pd.Series[float]") -> "pd.Series[float]":
    """first - second, seed by seed; a seed that one of them lacks is left out."""
    if first.index.equals(second.index):  # as always but for diverged networks; aligning takes long
        return pd.Series(first.to_numpy() - second.to_numpy(), index=first.index).dropna()
    return (first - second).dropna()


def difference(first: "pd.Series[float]", second: "pd.Series[float]") -> Estimate:
    """The mean of `paired`, and its error."""
    if first.index.equals(second.index):
        return _estimate((first.to_numpy() - second.to_numpy()).astype(float))
    return estimate(paired(first, second))


def ratio_of_means(first: "pd.Series[float]", second: "pd.Series[float]") -> Estimate:
    """mean(first)/mean(second) over the seeds of both; its error to first order, from the paired residuals."""
    both = pd.DataFrame({"first": first, "second": second}).dropna()
    below = float(both["second"].mean()) if len(both) else math.nan
    if not below:
        return Estimate(math.nan, math.nan, len(both))
    ratio = float(both["first"].mean()) / below
    residual = estimate((both["first"] - ratio * both["second"]) / below)
    return Estimate(ratio, residual.error, len(both))


def spearman(first: list[float], second: list[float]) -> float:
    """Rank correlation; ties share their mean rank. Not a number if either is constant."""
    ranks = [pd.Series(values, dtype=float).rank() for values in (first, second)]
    return float(ranks[0].corr(ranks[1]))


def holm(p_values: list[float], level: float = LEVEL) -> list[bool]:
    """Which hypotheses are rejected if the chance of any false rejection is to stay below `level` (Holm 1979).

    The k-th smallest of m is held against level/(m - k + 1); at the first that fails, the rest fail too.
    """
    rejected = [False] * len(p_values)
    for rank, place in enumerate(np.argsort(p_values, kind="stable")):
        if not p_values[place] <= level / (len(p_values) - rank):
            break
        rejected[place] = True
    return rejected
