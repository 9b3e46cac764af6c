"""Claims on the recurrent gradient: rnn-alignment, gru-alignment."""

import itertools
import math

import pandas as pd

from colrun.estimators import EstimatorName
from colrun.verdicts import scope
from colrun.verdicts.scope import LEVELS, MASTER_USER, METRICS, SPARSE, Scope, block, take, tbptt
from colrun.verdicts.statistics import Estimate, difference, estimate, paired, spearman
from colrun.verdicts.verdict import NoDataError, Number, Verdict, decide, of

WINDOWS = (1, 3, 5, 20, 40)
DENSE = 19.0
EXACT_ALIGNMENT, EXACT_ERROR = 0.9999, 1e-5
MONOTONE = -0.9
AHEAD_BOUND = "> 2 se"


def lead(
    found: Scope, who: EstimatorName, over: EstimatorName, level: float, step_size: float | None = None
) -> Estimate:
    """The paired lead of one estimator over another."""
    return difference(found.values(who, level, step_size), found.values(over, level, step_size))


def leads(
    found: Scope, who: EstimatorName, over: EstimatorName, level: float, step_size: float | None = None
) -> "pd.Series[float]":
    """The same seed by seed."""
    return paired(found.values(who, level, step_size), found.values(over, level, step_size))


def leads_at(found: Scope, frame: pd.DataFrame, who: EstimatorName, window: int) -> list[Number]:
    """An estimator against a window at every level in scope; the block form and the share it leads in beside it."""
    (over,) = tbptt(window)
    numbers, shares = [], []
    for level in found.levels:
        each = leads(found, who, over, level)
        numbers.append(
            of(f"lead over {over}", found.label(level), estimate(each), estimate(each).ahead, AHEAD_BOUND, "points")
        )
        share = float((each > 0).mean()) if len(each) else math.nan
        shares.append(Number("share of networks in which it leads", found.label(level), share, n=len(each)))
    numbers += shares
    (other,) = block(window)
    blocks = scope.beside(found.sweep, frame, [who, other], found)
    if blocks is not None:
        numbers += [
            of(f"lead over {other}", found.label(level), lead(blocks, who, other, level), unit="points")
            for level in blocks.levels
        ]
    return numbers


def exact_without_lateral(rnn: pd.DataFrame, gru: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Every network at s = 0."""
    alignments: list[Number] = []
    errors: list[Number] = []
    notes: list[str] = []
    rows = diverged = 0
    for sweep, frame in (("rnn-alignment", rnn), ("gru-alignment", gru)):
        try:
            found = take(sweep, frame, [who], lambda level: level == 0)
        except NoDataError as missing:
            notes.append(str(missing))
            continue
        rows, diverged = rows + found.size[0], diverged + found.size[1]
        notes += found.notes([0.0])
        alignment, mae, size = (found.values(who, 0.0, metric=name) for name in METRICS)
        worst, most, n = float(alignment.min()), float((mae / size).max()), len(alignment)
        alignments.append(Number("lowest alignment", sweep, worst, math.nan, n, worst >= EXACT_ALIGNMENT, "≥ 99.99 %"))
        errors.append(Number("highest mae/mean_abs_truth", sweep, most, math.nan, n, most < EXACT_ERROR, "< 1e-5", ""))
    if not alignments:
        raise NoDataError("; ".join(notes))
    return decide((rows, diverged), [*alignments, *errors], notes)


def degrades_with_lateral(rnn: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Rank correlation of its level means with the level."""
    found = take("rnn-alignment", rnn, [who])
    means = [estimate(found.values(who, level)) for level in found.levels]
    if len(means) < 3:
        raise NoDataError("rnn-alignment has fewer than three lateral levels")
    rho = spearman(found.levels, [mean.value for mean in means])
    numbers = [Number("Spearman", "", rho, holds=rho <= MONOTONE, bound="≤ -0.9", unit="")]
    numbers += [of("alignment", found.label(level), mean) for level, mean in zip(found.levels, means, strict=True)]
    return decide(found.size, numbers, found.notes((*LEVELS, DENSE)))


def beats_tbptt_when_sparse(rnn: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Ahead of window 40 at every level above 0 up to 1 %."""
    found = take("rnn-alignment", rnn, [who, *tbptt(40)], lambda level: 0 < level <= SPARSE)
    return decide(found.size, leads_at(found, rnn, who, 40), found.notes(LEVELS[1:4]))


def tbptt_insensitive(rnn: pd.DataFrame) -> Verdict:
    """Range of each window's level means up to 100 % against Master-User's; beyond it, where both fall, beside it."""
    found = take("rnn-alignment", rnn, [MASTER_USER, *tbptt(*WINDOWS)], lambda level: level <= 1)
    whole = _range(found, MASTER_USER)
    numbers = [of("range of level means", "master-user", whole, unit="points")]
    for name in tbptt(*WINDOWS):
        its = _range(found, name)
        numbers.append(
            of(
                "range of level means",
                str(name),
                its,
                its.value < whole.value / 3,
                "< a third of master-user's",
                "points",
            )
        )
    blocks = scope.beside("rnn-alignment", rnn, block(*WINDOWS), found)
    if blocks is not None:
        numbers += [
            of("range of level means, blocks", str(name), _range(blocks, name), unit="points")
            for name in block(*WINDOWS)
        ]
    whole_axis = take("rnn-alignment", rnn, [MASTER_USER, *tbptt(*WINDOWS)])
    for name in (MASTER_USER, *tbptt(*WINDOWS)):
        numbers.append(of("range up to the dense level", str(name), _range(whole_axis, name), unit="points"))
    return decide(found.size, numbers, found.notes(LEVELS[:8]))


def _range(found: Scope, name: EstimatorName) -> Estimate:
    """Highest less lowest level mean, with the paired standard error of that difference."""
    means = {level: estimate(found.values(name, level)).value for level in found.levels}
    present = {level: mean for level, mean in means.items() if not math.isnan(mean)}
    if not present:
        return Estimate(math.nan, math.nan, 0)
    top, bottom = max(present, key=present.__getitem__), min(present, key=present.__getitem__)
    spread = difference(found.values(name, top), found.values(name, bottom))
    return Estimate(present[top] - present[bottom], spread.error, spread.n)


def gains(found: Scope) -> dict[tuple[float, int, int], Estimate]:
    """What a larger window gains over a smaller one: (level, smaller, larger) → paired difference."""
    names = {window: name for window, name in zip(WINDOWS, tbptt(*WINDOWS), strict=True) if found.has(name)}
    return {
        (level, small, large): difference(found.values(names[large], level), found.values(names[small], level))
        for level in found.levels
        for small, large in itertools.combinations(names, 2)
    }


def tbptt_improves_with_window(rnn: pd.DataFrame) -> Verdict:
    """No larger window is behind a smaller one by more than two paired standard errors."""
    found = take("rnn-alignment", rnn, tbptt(*WINDOWS))
    each = gains(found)
    inverted = {key: gain for key, gain in each.items() if gain.behind}
    numbers = [Number("inversions", f"of {len(each)} pairs", len(inverted), holds=not inverted, bound="none", unit="")]
    for (level, small, large), gain in itertools.islice(sorted(inverted.items(), key=lambda pair: pair[1].value), 5):
        numbers.append(of("inversion", f"{large} against {small} at {found.label(level)}", gain, unit="points"))
    steps = itertools.pairwise(WINDOWS)
    for small, large in steps:
        level, gain = min(
            ((level, gain) for (level, a, b), gain in each.items() if (a, b) == (small, large)),
            key=lambda pair: (math.isnan(pair[1].value), pair[1].value),
        )
        numbers.append(of("smallest gain", f"{small} → {large} (at {found.label(level)})", gain, unit="points"))
    return decide(found.size, numbers, found.notes((*LEVELS, DENSE)))


def gru_helps_tbptt(gru: pd.DataFrame, rnn: pd.DataFrame) -> Verdict:
    """Small windows at s = 0: the same seeds, so the same sequences, on either cell."""
    small = tbptt(1, 3, 5)
    gated = take("gru-alignment", gru, small, lambda level: level == 0)
    plain = take("rnn-alignment", rnn, small, lambda level: level == 0)
    numbers: list[Number] = []
    for name in small:
        gain = difference(gated.values(name, 0.0), plain.values(name, 0.0))
        numbers.append(of("gated less additive", str(name), gain, gain.ahead, AHEAD_BOUND, "points"))
    for title, found in (("alignment, gated cell", gated), ("alignment, additive cell", plain)):
        numbers += [of(title, str(name), estimate(found.values(name, 0.0))) for name in small]
    rows, diverged = (sum(pair) for pair in zip(gated.size, plain.size, strict=True))
    return decide((rows, diverged), numbers, [*gated.notes([0.0]), *plain.notes([0.0])])
