"""How many networks stand behind a figure, and what is missing: shown on its face."""

import pandas as pd

from colrun.sweep.file import Sweep
from colrun.sweep.plan import entries

POINT = ["network", "reading", "cell", "columns", "width", "lateral", "step_size", "estimator", "window"]
MANY = 0.1
"""Where more than this share of networks diverged, the mean of the others says little: SPEC's bound for claims."""


def spoken(numbers: "pd.Series[int]") -> str:
    """One number, or from least to most."""
    least, most = int(numbers.min()), int(numbers.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def seeds_planned(plan: Sweep | None) -> int | None:
    """Networks per point that the sweep should have."""
    return max(len(grid.seeds) for grid in plan.grids) if plan is not None else None


def per_point(frame: pd.DataFrame, point: list[str] | None = None) -> "pd.Series[int]":
    """Networks behind every point of every curve."""
    keys = [name for name in (point or POINT) if name in frame]
    return frame.groupby(keys, dropna=False)["seed"].nunique()


def note(frame: pd.DataFrame, plan: Sweep | None, point: list[str] | None = None) -> tuple[str, bool]:
    """`n = 37 of 100, 3 diverged` for the rows of a panel, and whether it is a warning."""
    numbers = per_point(frame, point)
    planned = seeds_planned(plan)
    text, short = f"n = {spoken(numbers)}", planned is not None and int(numbers.min()) < planned
    if short:
        text += f" of {planned:,}"
    jobs = frame["job"].nunique()
    lost = frame[frame["diverged"]]["job"].nunique()
    if lost:
        text += f", {lost:,} of {jobs:,} diverged"
    return text, short or lost > MANY * jobs


def missing(frame: pd.DataFrame, plan: Sweep | None) -> str:
    """`incomplete: 330 of 2,200 networks`, or nothing if every row of the plan is there."""
    if plan is None:
        return ""
    rows = frame["job"].value_counts().to_dict()
    wanted = found = whole = 0
    for entry in entries(plan):
        for seed in entry.seeds:
            have = rows.get(f"{entry.id}.{seed}", 0)
            wanted += 1
            found += have > 0
            whole += have >= max(1, len(entry.estimators))
    if found < wanted:
        return f"incomplete: {found:,} of {wanted:,} networks"
    if whole < wanted:
        return f"incomplete: {wanted - whole:,} of {wanted:,} networks lack estimators"
    return ""
