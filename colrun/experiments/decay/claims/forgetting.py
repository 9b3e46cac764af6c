"""Claims on untrained cells: state-decay."""

import pandas as pd

from colrun.verdicts.scope import SEEDS
from colrun.verdicts.statistics import Estimate, estimate, ratio_of_means
from colrun.verdicts.verdict import NoDataError, Number, Verdict, decide, of

FADED = {5: 0.1, 10: 0.01}
"""Steps → mean absolute state below which a cell has forgotten."""
SETTLED_FROM, SETTLED_TO = 15, 20
SETTLED, NON_ZERO = 0.01, 0.01


def _cells(frame: pd.DataFrame, bias: bool, steps: list[int]) -> tuple[pd.DataFrame, list[tuple[str, int]], list[str]]:
    """Rows of h with or without bias at some steps; (cell, size) in order; what is missing."""
    if frame.empty:
        raise NoDataError("no rows of state-decay")
    rows = frame[(frame["bias"] == bias) & (frame["quantity"] == "h") & frame["step"].isin(steps)]
    if set(rows["step"]) != set(steps):
        raise NoDataError(f"state-decay has no rows {'with' if bias else 'without'} bias at steps {steps}")
    counts = rows.groupby(["cell", "hidden", "step"])["seed"].nunique()
    if counts.max() < 2:
        raise NoDataError("state-decay has one network only, too few for a standard error")
    few = counts.min() < SEEDS
    notes = [f"state-decay: n = {counts.min()} of {SEEDS} networks in the smallest group"] if few else []
    pairs = rows[["cell", "hidden"]].drop_duplicates().sort_values(["cell", "hidden"])
    return rows, list(pairs.itertuples(index=False, name=None)), notes


def _at(rows: pd.DataFrame, cell: str, hidden: int, step: int) -> "pd.Series[float]":
    chosen = (rows["cell"] == cell) & (rows["hidden"] == hidden) & (rows["step"] == step) & ~rows["diverged"]
    return rows[chosen].groupby("seed")["value"].mean()


def decay_fast(decay: pd.DataFrame) -> Verdict:
    """Without bias, every cell and size: mean over networks of the mean absolute h."""
    rows, pairs, notes = _cells(decay, False, list(FADED))
    numbers: list[Number] = []
    for step, bound in FADED.items():
        for cell, hidden in pairs:
            mean = estimate(_at(rows, cell, hidden, step))
            title = f"mean |h| after {step} steps"
            numbers.append(of(title, f"{cell} {hidden}", mean, mean.value < bound, f"< {bound:g}", unit=""))
    return decide((len(rows), int(rows["diverged"].sum())), numbers, notes)


def decay_bias_constant(decay: pd.DataFrame) -> Verdict:
    """With bias, every cell and size: the mean settles, and not at 0."""
    rows, pairs, notes = _cells(decay, True, [SETTLED_FROM, SETTLED_TO])
    changes, ends = [], []
    for cell, hidden in pairs:
        before, after = (_at(rows, cell, hidden, step) for step in (SETTLED_FROM, SETTLED_TO))
        ratio = ratio_of_means(after, before)
        change = Estimate(ratio.value - 1, ratio.error, ratio.n)
        name, end = f"{cell} {hidden}", estimate(after)
        changes.append(of("change from step 15 to 20", name, change, abs(change.value) < SETTLED, "< 1 % either way"))
        ends.append(of("mean |h| after 20 steps", name, end, end.value > NON_ZERO, "> 0.01", unit=""))
    return decide((len(rows), int(rows["diverged"].sum())), [*changes, *ends], notes)
