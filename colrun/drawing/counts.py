"""How many networks stand behind a figure, and what is missing: shown on its face."""

from collections.abc import Iterable

import pandas as pd

from colrun.drawing.source import Plan, Source

ROW = ("estimator", "window")
"""What tells the rows of one network apart, in most experiments."""
MANY = 0.1
"""Where more than this share of networks diverged, the mean of the others says little: the bound of claims too."""


def spoken(numbers: "pd.Series[int]") -> str:
    """One number, or from least to most."""
    least, most = int(numbers.min()), int(numbers.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def per_point(frame: pd.DataFrame, source: Source, row: Iterable[str] = ROW) -> "pd.Series[int]":
    """Networks behind every point of every curve: rows of one point differ in their seed only."""
    keys = [name for name in (*source.axes.get(source.sweep, ()), *row) if name in frame]
    return frame.groupby(keys, dropna=False)["seed"].nunique()


def note(frame: pd.DataFrame, source: Source, row: Iterable[str] = ROW) -> tuple[str, bool]:
    """`n = 37 of 100, 3 diverged` for the rows of a panel, and whether it is a warning."""
    numbers = per_point(frame, source, row)
    planned = source.plan.seeds if source.plan is not None else None
    text, short = f"n = {spoken(numbers)}", planned is not None and int(numbers.min()) < planned
    if short:
        text += f" of {planned:,}"
    jobs = frame["job"].nunique()
    lost = frame[frame["diverged"]]["job"].nunique()
    if lost:
        text += f", {lost:,} of {jobs:,} diverged"
    return text, short or lost > MANY * jobs


def missing(frame: pd.DataFrame, plan: Plan | None) -> str:
    """`incomplete: 330 of 2,200 networks`, or nothing if every row of the plan is there."""
    if plan is None:
        return ""
    rows = frame["job"].value_counts().to_dict()
    wanted = found = whole = 0
    for config, seeds, planned in plan.configs:
        for seed in seeds:
            have = rows.get(f"{config}.{seed}", 0)
            wanted += 1
            found += have > 0
            whole += have >= planned
    if found < wanted:
        return f"incomplete: {found:,} of {wanted:,} networks"
    if whole < wanted:
        return f"incomplete: {wanted - whole:,} of {wanted:,} networks lack estimators"
    return ""
