"""Claims on the meta-gradient: meta-alignment, meta-ablation, step-size."""

import math

import pandas as pd

from colrun.estimators import EstimatorName
from colrun.experiments.alignment.claims.recurrent import AHEAD_BOUND, lead, leads, leads_at
from colrun.verdicts import scope
from colrun.verdicts.scope import LEVELS, MASTER_USER, NO_META, SPARSE, Scope, block, take, tbptt
from colrun.verdicts.statistics import estimate, paired, ratio_of_means
from colrun.verdicts.verdict import NoDataError, Number, Verdict, decide, of

WINDOWS = (1, 5, 10, 40)
ABLATION_STEPS = (1e-2, 1e-3, 1e-4)
STEPS = (1e-1, 1e-2, 1e-3)
NEAR_EXACT, MATTERS, GOOD = 0.99, 0.9, 0.9
HALF_MORE = (1.3, 1.7)
SPARED = 0.02


def meta_near_exact(meta: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Its mean alignment at s = 0."""
    found = take("meta-alignment", meta, [who], lambda level: level == 0)
    values = found.values(who, 0.0)
    mean = estimate(values)
    numbers = [
        of("alignment", "0 %", mean, mean.value >= NEAR_EXACT, "≥ 99 %"),
        Number("lowest network", "0 %", float(values.min()), n=len(values)),
    ]
    return decide(found.size, numbers, found.notes([0.0]))


def meta_beats_all_when_sparse(meta: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Ahead of window 40, the best of the windows, at every level up to 1 %."""
    found = take("meta-alignment", meta, [who, *tbptt(40)], lambda level: level <= SPARSE)
    return decide(found.size, leads_at(found, meta, who, 40), found.notes(LEVELS[:4]))


def meta_beats_tbptt_10(meta: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Ahead of window 10 at every level up to 10 %."""
    found = take("meta-alignment", meta, [who, *tbptt(10)], lambda level: level <= 0.1)
    return decide(found.size, leads_at(found, meta, who, 10), found.notes(LEVELS[:6]))


def meta_benefit_smaller(meta: pd.DataFrame, rnn: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Mean lead over windows 1, 5 and 40 at levels up to 1 %, in either experiment."""
    windows = tbptt(1, 5, 40)
    means, scopes, numbers = [], [], []
    for sweep, frame in (("rnn-alignment", rnn), ("meta-alignment", meta)):
        found = take(sweep, frame, [who, *windows], lambda level: level <= SPARSE)
        each = pd.DataFrame(
            {(level, str(over)): leads(found, who, over, level) for level in found.levels for over in windows}
        )
        mean = each.mean(axis=1, skipna=False)
        means.append(mean)
        scopes.append(found)
        numbers.append(of("mean lead over windows 1, 5, 40", sweep, estimate(mean), unit="points"))
    less = estimate(paired(*means))
    numbers.append(of("rnn- less meta-alignment", "", less, less.value > 0, "> 0", "points"))
    notes = [note for found in scopes for note in found.notes(LEVELS[:4])]
    if less.value > 0 and not less.ahead:
        notes.append("the difference is within two standard errors")
    rows, diverged = (sum(pair) for pair in zip(*(found.size for found in scopes), strict=True))
    return decide((rows, diverged), numbers, notes)


def _ablation(frame: pd.DataFrame) -> tuple[Scope, list[str]]:
    found = take("meta-ablation", frame, [MASTER_USER, NO_META], lambda level: level == 0, ABLATION_STEPS)
    notes = found.notes([0.0])
    notes += [f"no rows at α = {step:g}" for step in ABLATION_STEPS if step not in found.step_sizes]
    for step in found.step_sizes:
        rows = found.rows[found.rows["step_size"] == step]
        lost = int(rows["diverged"].sum())
        if lost:
            notes.append(f"α = {step:g}: {lost} of {len(rows)} rows diverged")
    return found, notes


def meta_matters(ablation: pd.DataFrame) -> Verdict:
    """Without the meta-gradient under 90 % aligned at s = 0, and behind Master-User, at each step size."""
    found, notes = _ablation(ablation)
    without, ahead, whole = [], [], []
    for step in found.step_sizes:
        alpha, alone = f"α = {step:g}", estimate(found.values(NO_META, 0.0, step))
        without.append(of("alignment without", alpha, alone, alone.value < MATTERS, "< 90 %"))
        gain = lead(found, MASTER_USER, NO_META, 0.0, step)
        ahead.append(of("lead of master-user", alpha, gain, gain.ahead, AHEAD_BOUND, "points"))
        whole.append(of("alignment of master-user", alpha, estimate(found.values(MASTER_USER, 0.0, step))))
    return decide(found.size, [*without, *ahead, *whole], notes)


def meta_mae(ablation: pd.DataFrame) -> Verdict:
    """Mean absolute error without the meta-gradient over that with it, at s = 0 and each step size."""
    found, notes = _ablation(ablation)
    ratios, medians = [], []
    for step in found.step_sizes:
        without, whole = (found.values(name, 0.0, step, "mae") for name in (NO_META, MASTER_USER))
        ratio = ratio_of_means(without, whole)
        low, high = HALF_MORE
        ratios.append(of("ratio of mean MAEs", f"α = {step:g}", ratio, low <= ratio.value <= high, "1.3 … 1.7", ""))
        median = float(without.median() / whole.median()) if len(without) and whole.median() else math.nan
        medians.append(Number("ratio of medians", f"α = {step:g}", median, n=ratio.n, unit=""))
    return decide(found.size, [*ratios, *medians], notes)


def step_size_hurts_tbptt(steps: pd.DataFrame) -> Verdict:
    """At s = 0 every window is better at α = 1e-3 than at 1e-1."""
    found = take("step-size", steps, tbptt(*WINDOWS), lambda level: level == 0, (STEPS[0], STEPS[-1]))
    _need(found, (STEPS[0], STEPS[-1]))

    def gain(rows: Scope, name: object) -> Number:
        low, high = (rows.values(name, 0.0, step) for step in (STEPS[-1], STEPS[0]))  # type: ignore[arg-type]
        difference = estimate(paired(low, high))
        decides = rows is found
        return of(f"α = 1e-3 less 1e-1{'' if decides else ', blocks'}", str(name), difference,
                  difference.ahead if decides else None, AHEAD_BOUND if decides else "", "points")  # fmt: skip

    numbers = [gain(found, name) for name in tbptt(*WINDOWS)]
    blocks = scope.beside("step-size", steps, block(*WINDOWS), found)
    if blocks is not None:
        numbers += [gain(blocks, name) for name in block(*WINDOWS)]
    return decide(found.size, numbers, found.notes([0.0]))


def small_step_any_window(steps: pd.DataFrame) -> Verdict:
    """tbptt-1 at s = 0 and α = 1e-3."""
    (one,) = tbptt(1)
    found = take("step-size", steps, [one], lambda level: level == 0, STEPS[-1:])
    mean = estimate(found.values(one, 0.0))
    return decide(found.size, [of("alignment", "tbptt-1", mean, mean.value >= GOOD, "≥ 90 %")], found.notes([0.0]))


def step_size_spares_master_user(steps: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Range of its means over the step sizes, at s = 0 and 10 %."""
    found = take("step-size", steps, [who], lambda level: level in (0.0, 0.1), STEPS)
    _need(found, STEPS)
    ranges, means = [], []
    for level in found.levels:
        each = {step: found.values(who, level, step) for step in found.step_sizes}
        mean = {step: estimate(values) for step, values in each.items()}
        means += [of(f"alignment at {found.label(level)}", f"α = {step:g}", value) for step, value in mean.items()]
        top, bottom = (pick(mean, key=lambda step: mean[step].value) for pick in (max, min))
        spread = estimate(paired(each[top], each[bottom]))
        width = mean[top].value - mean[bottom].value
        ranges.append(
            Number(
                "range over α",
                found.label(level),
                width,
                spread.error,
                spread.n,
                width < SPARED,
                "< 2 points",
                "points",
            )
        )
    return decide(found.size, [*ranges, *means], found.notes([0.0, 0.1]))


def _need(found: Scope, steps: tuple[float, ...]) -> None:
    missing = [f"{step:g}" for step in steps if step not in found.step_sizes]
    if missing:
        raise NoDataError(f"{found.sweep} has no rows at α = {', '.join(missing)}")
