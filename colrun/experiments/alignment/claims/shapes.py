"""The claim that C and W do not change the picture: rnn-grid, meta-grid.

Many configurations mean many tests, so the bar of two standard errors is raised by Holm's correction, over all tests of
one kind. A lead must be there at every level in scope, so a configuration's probability is the highest of its levels
(an intersection-union test) and configurations are corrected for. An inversion of windows counts against a
configuration, so there the correction, over every level and pair of every configuration, works in the claim's favour.
"""

from collections.abc import Iterator

import pandas as pd

from colrun.estimators import EstimatorName
from colrun.experiments.alignment.claims.recurrent import MONOTONE, WINDOWS, gains, lead
from colrun.verdicts.scope import LEVELS, MASTER_USER, SEEDS, SPARSE, Scope, take_each, tbptt
from colrun.verdicts.statistics import estimate, holm, spearman
from colrun.verdicts.verdict import MOST_DIVERGED, NoDataError, Number, Verdict, decide

MOST = 0.9
SIZES = (5, 10, 20, 50, 100)
Config = tuple[str, Scope]


def shape_independent(rnn_grid: pd.DataFrame, meta_grid: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """The share of configurations in which each of four claims holds; of others than Master-User, three."""
    rnn = list(_configs("rnn-grid", rnn_grid, who))
    meta = list(_configs("meta-grid", meta_grid, who))
    if not rnn and not meta:
        raise NoDataError("no rows of rnn-grid and meta-grid")
    numbers: list[Number] = []
    notes: list[str] = []
    asked = [
        ("degrades-with-lateral", rnn, degrading(rnn, who)),
        ("beats-tbptt-when-sparse", rnn, leading(rnn, who, 40, [level for level in LEVELS if 0 < level <= SPARSE])),
        ("meta-beats-tbptt-10", meta, leading(meta, who, 10, [level for level in LEVELS if level <= 0.1])),
    ]
    if who == MASTER_USER:  # nothing that another estimator could be asked
        asked.insert(2, ("tbptt-improves-with-window", rnn, improving(rnn)))
    for claim, configs, holding in asked:
        if not configs:
            notes.append(f"no rows for {claim}")
            continue
        lost = [diverged(found) for _, found in configs]
        fine = [ok and not gone for ok, gone in zip(holding, lost, strict=True)]
        share = sum(fine) / len(configs)
        numbers.append(
            Number("share of configurations", claim, share, n=len(configs), holds=share >= MOST, bound="≥ 90 %")
        )
        if any(lost):
            left = len(configs) - sum(lost)
            among = sum(fine) / left if left else float("nan")
            numbers.append(Number("share of those that did not diverge", claim, among, n=left))
        failing = [name for (name, _), ok, gone in zip(configs, fine, lost, strict=True) if not ok and not gone]
        if failing:
            notes.append(f"{claim} fails in {_some(failing)}")
    for sweep, configs, planned in (("rnn-grid", rnn, 25), ("meta-grid", meta, 75)):
        lost_names = [name for name, found in configs if diverged(found)]
        if lost_names:
            notes.append(f"{sweep}: over 10 % diverged, so counted as not holding, in {_some(lost_names)}")
        if configs and len(configs) < planned:
            notes.append(f"{sweep}: {len(configs)} of {planned} configurations")
        fewest = min((found.rows["seed"].nunique() for _, found in configs), default=SEEDS)
        if fewest < SEEDS:
            notes.append(f"{sweep}: n = {fewest} of {SEEDS} networks per point")
    sizes = [found.size for _, found in (*rnn, *meta)]
    return decide((sum(rows for rows, _ in sizes), sum(gone for _, gone in sizes)), numbers, notes)


def _configs(sweep: str, frame: pd.DataFrame, who: EstimatorName) -> Iterator[Config]:
    """One scope per configuration that has what the claims need."""
    if frame.empty:
        return
    meta = sweep == "meta-grid"
    names = [who, *(tbptt(10) if meta else tbptt(*WINDOWS))]
    chosen = frame[frame["columns"].isin(SIZES) & frame["width"].isin(SIZES)]
    axes = ["columns", "width", "step_size"]
    for (columns, width, step), found in take_each(sweep, chosen, names, axes, steps=50, inputs=50):
        yield f"C={columns} W={width}" + (f" α={step:g}" if meta else ""), found


def diverged(found: Scope) -> bool:
    """Whether too many rows of a configuration did."""
    rows, lost = found.size
    return lost / rows > MOST_DIVERGED


def degrading(configs: list[Config], who: EstimatorName) -> list[bool]:
    """Rank correlation of level means, as in the claim itself."""
    return [
        spearman(found.levels, [estimate(found.values(who, level)).value for level in found.levels]) <= MONOTONE
        for _, found in configs
    ]


def leading(configs: list[Config], who: EstimatorName, window: int, levels: list[float]) -> list[bool]:
    """The estimator ahead of a window at every level."""
    (over,) = tbptt(window)
    worst = []
    for _, found in configs:
        present = [level for level in found.levels if level in levels]
        worst.append(max((lead(found, who, over, level).p_above for level in present), default=1.0))
    return holm(worst)


def improving(configs: list[Config]) -> list[bool]:
    """No larger window behind a smaller one at any level."""
    tests = [(place, gain.p_below) for place, (_, found) in enumerate(configs) for gain in gains(found).values()]
    rejected = holm([p for _, p in tests])
    inverted = {place for (place, _), yes in zip(tests, rejected, strict=True) if yes}
    return [place not in inverted for place in range(len(configs))]


def _some(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
