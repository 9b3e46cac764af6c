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

import torch
from torch import Tensor

METRICS = ("alignment", "alignment_released", "mae", "mean_abs_truth", "cosine", "norm_ratio", "compared")
SPREAD = ("bias", "variance")
GROUPS = ("first", "second", "own", "lateral", "recurrent")
"""Weights of the first layer (A, b), of the second (B, c), of a column's own features and gates (U_ii, q), of those of
other columns (U_ij), and of states (R)."""
BY_GROUP = ("alignment", "mae", "cosine", "norm_ratio")
GROUP_METRICS = tuple(f"{metric}_{group}" for group in GROUPS for metric in BY_GROUP)
RELEASED_THRESHOLD = 1e-10
DIVERGED_ERROR = 1000.0


Named = Mapping[str, Tensor]


def compare(truth: Named, estimate: Named, masks: Named) -> dict[str, Tensor]:
    """Metrics of each network of a batch: gradients and masks are (N, …) by name, each metric is (N,)."""
    return from_sums(sums_of(truth, estimate, masks))


def sums_of(truth: Named, estimate: Named, masks: Named) -> Tensor:
    """The sums (10, N) behind `compare`."""
    N = next(iter(truth.values())).shape[0]
    sums = torch.zeros(10, N, dtype=torch.float64)
    for name, mask in masks.items():
        exists = mask.reshape(N, -1)
        # A masked weight adds nothing to any sum, whatever stands in its place: NaN times 0 would be NaN.
        g, e = (torch.where(exists, given[name].reshape(N, -1).double(), 0.0) for given in (truth, estimate))
        product = g * e
        sums += torch.stack(
            [
                ((g != 0) & (g.sign() == e.sign())).double().sum(1),
                (g != 0).double().sum(1),
                (product > RELEASED_THRESHOLD).double().sum(1),
                (product.abs() > RELEASED_THRESHOLD).double().sum(1),
                (e - g).abs().sum(1),
                g.abs().sum(1),
                exists.double().sum(1),
                product.sum(1),
                (g * g).sum(1),
                (e * e).sum(1),
            ]
        )
    return sums


def sums_of_groups(truth: Named, estimate: Named, masks: Named) -> Tensor:
    """The same by group of weights, (groups, 10, N), on columnar networks."""
    own = torch.eye(masks["b"].shape[1], dtype=torch.bool).unsqueeze(-1)
    kinds = {"A": "first", "b": "first", "B": "second", "c": "second", "q": "own", "R": "recurrent"}
    by_group: dict[str, dict[str, Tensor]] = {group: {} for group in GROUPS}
    for name, mask in masks.items():
        if name[0] == "U":
            by_group["own"][name], by_group["lateral"][name] = mask & own, mask & ~own
        else:
            by_group[kinds[name[0]]][name] = mask
    return torch.stack([sums_of(truth, estimate, masks) for masks in by_group.values()])


def whole_and_groups(sums: Tensor, metrics: Callable[[Tensor], dict[str, Tensor]], by_group: bool) -> dict[str, Tensor]:
    """Metrics over all weights, and of each group, from sums (groups, 10, …)."""
    # One after another: torch adds in an order that depends on how many there are beside them.
    found = metrics(reduce(add, sums))
    for number, group in enumerate(GROUPS if by_group else ()):
        part = metrics(sums[number])
        found |= {f"{metric}_{group}": part[metric] for metric in BY_GROUP}
    return found


def from_sums(sums: Tensor) -> dict[str, Tensor]:
    """The metrics (N,) from their sums (10, N), in the order in which `sums_of` takes them."""
    same, nonzero, same_released, counted, error, size, count, dot, gg, ee = sums
    ratios = {
        "alignment": (same, nonzero),
        "alignment_released": (same_released, counted),
        "mae": (error, count),
        "mean_abs_truth": (size, count),
        "cosine": (dot, gg.sqrt() * ee.sqrt()),  # the root of each: their product under one root leaves the range
        "norm_ratio": (ee.sqrt(), gg.sqrt()),
    }
    finite = error.isfinite()  # Σ|ĝ - g| is finite only if every g and ĝ is
    defined = {name: finite & (below != 0) for name, (_, below) in ratios.items()}
    found = {name: torch.where(defined[name], above / below, torch.nan) for name, (above, below) in ratios.items()}
    return found | {"compared": nonzero}


def from_draws(sums: Tensor) -> dict[str, Tensor]:
    """The metrics (N,) of a stochastic estimator from the sums (10, draws + 1, N) of its draws and of their mean."""
    draws, mean = sums[:, :-1], sums[:, -1]
    number = draws.shape[1]
    found = {name: values.mean(0) for name, values in from_sums(draws).items()}
    if number == 1:
        return found
    *_, dot, gg, mm = mean
    spread = draws[9].sum(0) - number * mm  # Σ‖ĝ - mean‖² = Σ‖ĝ‖² - n ‖mean‖²
    defined = mean[4].isfinite() & (gg != 0)
    ratios = {"bias": ((mm - 2 * dot + gg).clamp(min=0.0) / gg).sqrt(), "variance": spread / ((number - 1) * gg)}
    return found | {name: torch.where(defined, value.clamp(min=0.0), torch.nan) for name, value in ratios.items()}


def diverged(max_error: Tensor, metrics: Named) -> Tensor:
    """(N,): whether an error exceeded 1000 or anything was not finite, which shows in the mean absolute error."""
    return ~(max_error <= DIVERGED_ERROR) | metrics["mae"].isnan()
