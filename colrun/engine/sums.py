"""The sums behind the metrics, in float64, in one pass over the numbers.

Of the truth, once: weights with g ≠ 0, Σ|g|, Σg². Of each estimate: aligned, aligned and counted as the released code
does, Σ|ĝ - g|, Σ g ĝ, Σ ĝ². A masked weight is 0 in both and adds nothing.
"""

import numpy as np

from colrun.compiling import Array, kernel

TRUTH, ESTIMATE = 3, 6


@kernel
def of_truth(given: Array, begin: int, end: int, sums: Array, n: int, group: int) -> None:
    """Add those of given[0] from `begin` to `end` to sums[n, group]."""
    nonzero = np.int64(0)
    size = gg = 0.0
    for k in range(begin, end):
        g = np.float64(given[0, k])
        nonzero += g != 0.0
        size += abs(g)
        gg += g * g
    sums[n, group, 0] += nonzero
    sums[n, group, 1] += size
    sums[n, group, 2] += gg


@kernel
def of_estimate(
    given: Array, at: int, begin: int, end: int, onto: bool, threshold: float, sums: Array, n: int, e: int, group: int
) -> None:
    """Add those of given[at] against given[0] from `begin` to `end` to sums[n, e, group].

    If it goes `onto` the truth, it is the difference to it. Rows and places are given as numbers, not as views: taking
    a view costs as much as the sums of a small column.
    """
    aligned, released, counted = np.int64(0), np.int64(0), np.int64(0)
    error = dot = ee = 0.0
    for k in range(begin, end):
        g, estimate = np.float64(given[0, k]), np.float64(given[at, k])
        if onto:
            estimate += g
        product = g * estimate
        if given.itemsize == 4:  # products of float32 numbers and of their sums are never too small for float64
            aligned += product > 0.0
        else:
            aligned += ((g > 0.0) & (estimate > 0.0)) | ((g < 0.0) & (estimate < 0.0))
        released += product > threshold
        counted += abs(product) > threshold
        error += abs(estimate - g)
        dot += product
        ee += estimate * estimate
    sums[n, e, group, 0] += aligned
    sums[n, e, group, 1] += released
    sums[n, e, group, 2] += counted
    sums[n, e, group, 3] += error
    sums[n, e, group, 4] += dot
    sums[n, e, group, 5] += ee


@kernel
def add(
    given: Array, at: int, begin: int, end: int, onto: bool, threshold: float,
    truth: Array, estimates: Array, n: int, e: int, group: int,
) -> None:  # fmt: skip
    """Of gradient number e, in given[at]: 0 is the truth, in given[0]."""
    if e == 0:
        of_truth(given, begin, end, truth, n, group)
    else:
        of_estimate(given, at, begin, end, onto, threshold, estimates, n, e - 1, group)
