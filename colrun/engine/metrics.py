"""How good an estimate is. All sums run in float64 over the weights that exist; g is the truth, ĝ the estimate.

    alignment            among weights with g ≠ 0, the share with sign(ĝ) = sign(g); ĝ = 0 is not aligned
    alignment_released   the released code's: pairs with |g ĝ| ≤ 1e-10 are left out of both counts
    mae                  mean |ĝ - g|
    mean_abs_truth       mean |g|
    cosine               g·ĝ / (‖g‖ ‖ĝ‖)
    norm_ratio           ‖ĝ‖ / ‖g‖
    compared             number of weights with g ≠ 0

Of a stochastic estimator each is the mean over its draws ĝ_d of the metric of one draw. Two more, of two draws or more,
tell noise from error:

    bias                 ‖mean ĝ_d - g‖ / ‖g‖; its square is variance/draws on average where there is no bias
    variance             Σ_d ‖ĝ_d - mean‖² / ((draws - 1) ‖g‖²)

A metric whose denominator is 0 is undefined: NaN here, null in results. Where a gradient is not finite, all but the
count `compared` are NaN too: a comparison with NaN is false, so they would otherwise look like good numbers.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add

import numpy as np

from colrun.quality import BY_GROUP, GROUPS
from colrun.streams import Array

RELEASED_THRESHOLD = 1e-10
DIVERGED_ERROR = 1000.0

Named = Mapping[str, Array]
Metrics = dict[str, Array]


def compare(truth: Named, estimate: Named, masks: Named) -> Metrics:
    """Metrics of each network of a batch: gradients and masks are (N, …) by name, each metric is (N,)."""
    return from_sums(sums_of(truth, estimate, masks))


def sums_of(truth: Named, estimate: Named, masks: Named) -> Array:
    """The sums (10, N) behind `compare`."""
    N = next(iter(truth.values())).shape[0]
    sums = np.zeros((10, N))
    with np.errstate(all="ignore"):
        for name, mask in masks.items():
            exists = mask.reshape(N, -1)
            # A masked weight adds nothing to any sum, whatever stands in its place: NaN times 0 would be NaN.
            g, e = (np.where(exists, given[name].reshape(N, -1), 0).astype(np.float64) for given in (truth, estimate))
            product = g * e
            sums += [
                ((g != 0) & (np.sign(g) == np.sign(e))).sum(1),
                (g != 0).sum(1),
                (product > RELEASED_THRESHOLD).sum(1),
                (np.abs(product) > RELEASED_THRESHOLD).sum(1),
                np.abs(e - g).sum(1),
                np.abs(g).sum(1),
                exists.sum(1),
                product.sum(1),
                (g * g).sum(1),
                (e * e).sum(1),
            ]
    return sums


def sums_of_groups(truth: Named, estimate: Named, masks: Named) -> Array:
    """The same by group of weights, (groups, 10, N), on columnar networks."""
    own = np.eye(masks["b"].shape[1], dtype=np.bool_)[..., None]
    kinds = {"A": "first", "b": "first", "B": "second", "c": "second", "q": "own", "R": "recurrent"}
    by_group: dict[str, dict[str, Array]] = {group: {} for group in GROUPS}
    for name, mask in masks.items():
        if name[0] == "U":
            by_group["own"][name], by_group["lateral"][name] = mask & own, mask & ~own
        else:
            by_group[kinds[name[0]]][name] = mask
    return np.stack([sums_of(truth, estimate, masks) for masks in by_group.values()])


def whole_and_groups(sums: Array, metrics: Callable[[Array], Metrics], by_group: bool) -> Metrics:
    """Metrics over all weights, and of each group, from sums (groups, 10, …)."""
    found = metrics(reduce(add, sums))
    for number, group in enumerate(GROUPS if by_group else ()):
        part = metrics(sums[number])
        found |= {f"{metric}_{group}": part[metric] for metric in BY_GROUP}
    return found


def from_sums(sums: Array) -> Metrics:
    """The metrics (N,) from their sums (10, N), in the order in which `sums_of` takes them."""
    same, nonzero, same_released, counted, error, size, count, dot, gg, ee = sums
    with np.errstate(all="ignore"):
        ratios = {
            "alignment": (same, nonzero),
            "alignment_released": (same_released, counted),
            "mae": (error, count),
            "mean_abs_truth": (size, count),
            # the root of each: their product under one root leaves the range
            "cosine": (dot, np.sqrt(gg) * np.sqrt(ee)),
            "norm_ratio": (np.sqrt(ee), np.sqrt(gg)),
        }
        finite = np.isfinite(error)  # Σ|ĝ - g| is finite only if every g and ĝ is
        found = {
            name: np.where(finite & (below != 0), above / below, np.nan) for name, (above, below) in ratios.items()
        }
    return found | {"compared": nonzero}


def from_draws(sums: Array) -> Metrics:
    """The metrics (N,) of a stochastic estimator from the sums (10, draws + 1, N) of its draws and of their mean."""
    draws, mean = sums[:, :-1], sums[:, -1]
    number = draws.shape[1]
    found = {name: values.mean(0) for name, values in from_sums(draws).items()}
    if number == 1:
        return found
    *_, dot, gg, mm = mean
    with np.errstate(all="ignore"):
        spread = draws[9].sum(0) - number * mm  # Σ‖ĝ - mean‖² = Σ‖ĝ‖² - n ‖mean‖²
        defined = np.isfinite(mean[4]) & (gg != 0)
        ratios = {
            "bias": np.sqrt(np.maximum(mm - 2 * dot + gg, 0.0) / gg),
            "variance": np.maximum(spread / ((number - 1) * gg), 0.0),
        }
        return found | {name: np.where(defined, value, np.nan) for name, value in ratios.items()}


def diverged(max_error: Array, metrics: Named) -> Array:
    """(N,): whether an error exceeded 1000 or anything was not finite, which shows in the mean absolute error."""
    found: Array = ~(max_error <= DIVERGED_ERROR) | np.isnan(metrics["mae"])
    return found


def complete(metrics: Metrics, max_error: Array) -> Metrics:
    """With `max_error` and `diverged`."""
    return metrics | {"max_error": max_error, "diverged": diverged(max_error, metrics)}
