"""The sums behind the metrics, in float64, in one pass over the numbers.

Of the truth, once: weights with g ≠ 0, Σ|g|, count, Σg². Of each estimate: aligned, aligned and counted as the released
code does, Σ|ĝ - g|, Σ g ĝ, Σ ĝ².
"""

import numpy as np

from colrun.kernels import Array, kernel

TRUTH, ESTIMATE = 4, 6


@kernel
def of_truth(truth: Array, sums: Array) -> None:
    """Add those of a flat array."""
    nonzero = 0
    size = gg = 0.0
    for n in range(truth.size):
        g = np.float64(truth[n])
        nonzero += g != 0.0
        size += abs(g)
        gg += g * g
    sums[0] += nonzero
    sums[1] += size
    sums[2] += truth.size
    sums[3] += gg


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
def of_truth_by_network(truth: Array, per_network: int, begin: int, sums: Array) -> None:
    """Rows from number `begin` on, so many per network; sums (N, TRUTH)."""
    for m in range(truth.shape[0]):
        of_truth(truth[m], sums[(begin + m) // per_network])


@kernel
def of_estimates(
    truth_first: Array, truth_second: Array, first: Array, second: Array,
    per_network: int, begin: int, threshold: float, sums: Array,
) -> None:  # fmt: skip
    """Both layers, rows from number `begin` on, so many per network; sums (N, ESTIMATE)."""
    for m in range(truth_first.shape[0]):
        total = sums[(begin + m) // per_network]
        of_estimate(truth_first[m], first[m], threshold, total)
        of_estimate(truth_second[m], second[m], threshold, total)


@kernel
def of_truth_listed(truth: Array, starts: Array, sums: Array) -> None:
    """Weights in a list, those of network n from starts[n, 0] to starts[n, -1]."""
    for n in range(starts.shape[0]):
        of_truth(truth[starts[n, 0] : starts[n, -1]], sums[n])


@kernel
def of_estimate_listed(truth: Array, estimate: Array, starts: Array, threshold: float, sums: Array) -> None:
    """The same for an estimate."""
    for n in range(starts.shape[0]):
        part = slice(starts[n, 0], starts[n, -1])
        of_estimate(truth[part], estimate[part], threshold, sums[n])


@kernel
def gather(values: Array, places: Array, out: Array) -> None:
    """out = values[places]."""
    for n in range(places.size):
        out[n] = values[places[n]]
