"""The sums behind the metrics, in float64, in one pass over the numbers.

Of the truth, once: weights with g ≠ 0, Σ|g|, Σg². Of each estimate: aligned, aligned and counted as the released code
does, Σ|ĝ - g|, Σ g ĝ, Σ ĝ². A masked weight is 0 in both and adds nothing.
"""

import numpy as np

from colrun.kernels import Array, kernel

TRUTH, ESTIMATE = 3, 6


@kernel
def of_truth(truth: Array, sums: Array) -> None:
    """Add those of a flat array."""
    nonzero = np.int64(0)
    size = gg = 0.0
    for n in range(truth.size):
        g = np.float64(truth[n])
        nonzero += g != 0.0
        size += abs(g)
        gg += g * g
    sums[0] += nonzero
    sums[1] += size
    sums[2] += gg


@kernel
def of_estimate(truth: Array, estimate: Array, threshold: float, sums: Array) -> None:
    """Add those of flat arrays."""
    aligned, released, counted = np.int64(0), np.int64(0), np.int64(0)
    error = dot = ee = 0.0
    for n in range(truth.size):
        g, e = np.float64(truth[n]), np.float64(estimate[n])
        product = g * e
        if truth.itemsize == 4:  # a product of two float32 numbers is never too small for float64
            aligned += product > 0.0
        else:
            aligned += ((g > 0.0) & (e > 0.0)) | ((g < 0.0) & (e < 0.0))
        released += product > threshold
        counted += abs(product) > threshold
        error += abs(e - g)
        dot += product
        ee += e * e
    sums[0] += aligned
    sums[1] += released
    sums[2] += counted
    sums[3] += error
    sums[4] += dot
    sums[5] += ee


@kernel
def add(e: int, pair: Array, begin: int, end: int, threshold: float, truth: Array, estimate: Array) -> None:
    """Of gradient number e, from `begin` to `end`: pair[0] is the truth, gradient 0, and pair[1] the estimate."""
    if e == 0:
        of_truth(pair[0][begin:end], truth)
    else:
        of_estimate(pair[0][begin:end], pair[1][begin:end], threshold, estimate)
