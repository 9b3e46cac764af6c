"""The claim on the cost of a step: the sweep cost, in which operations and memory of the online forms are counted.

|θ| grows in two ways: with the width W of so many columns, and with the number C of columns of one width and lateral
ratio. Master-User's cost must grow like |θ| in both. The full Jacobian of rtrl has |h| numbers per weight, so it must
grow faster than |θ| where C does; nothing is claimed of it where only W does.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from colrun.claims.statistics import Estimate, estimate
from colrun.claims.verdict import NoDataError, Number, Verdict, decide, of

WITHIN = 0.1
FEWEST = 3
"""Sizes for a fit."""
WAYS = {"width": "W", "columns": "C"}
FIXED = ("reading", "cell", "columns", "width", "lateral", "step_size", "steps", "inputs", "dtype")


def exponent(rows: pd.DataFrame, quantity: str) -> Estimate:
    """Power of |θ| with which a quantity grows: a line through the logarithms, for each seed, then their mean."""
    slopes = {}
    for seed, points in rows.groupby("seed"):
        good = points[(points[quantity] > 0) & (points["parameters"] > 0)]
        if good["parameters"].nunique() >= FEWEST:
            slopes[seed] = float(np.polyfit(np.log(good["parameters"]), np.log(good[quantity]), 1)[0])
    return estimate(pd.Series(slopes, dtype=float))


def fits(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Rows that differ in W or in C alone: (way, what is the same, rows)."""
    for way in WAYS:
        fixed = [name for name in FIXED if name != way and name in rows]
        for _, group in rows.groupby(fixed, dropna=False):
            if group[way].nunique() >= FEWEST:
                first = group.iloc[0]
                where = (
                    f"{first['cell']}, C = {first['columns']}"
                    if way == "width"
                    else f"{first['cell']}, W = {first['width']}"
                )
                where += f", s = {100 * first['lateral']:g} %"
                where += "" if pd.isna(first["step_size"]) else f", α = {first['step_size']:g}"
                yield way, where, group


def linear_cost(cost: pd.DataFrame) -> Verdict:
    """Exponents of operations and memory per step in |θ|."""
    if cost.empty:
        raise NoDataError("no rows of cost")
    numbers: list[Number] = []
    for family in ("master-user", "rtrl"):
        for quantity in ("operations", "memory"):
            for way, where, group in fits(cost[cost["estimator"] == family]):
                found = exponent(group[~group["diverged"]], quantity)
                if math.isnan(found.value):
                    continue
                title = f"{quantity} of {family}, exponent in |θ| as {WAYS[way]} grows"
                if family == "master-user":
                    holds, bound = abs(found.value - 1) <= WITHIN, "1 ± 0.1"
                elif way == "columns":
                    holds, bound = found.value > 1 + WITHIN, "> 1.1"
                else:
                    holds, bound = None, ""
                numbers.append(of(title, where, found, holds, bound, unit=""))
    if not any(number.group.startswith(("operations of master-user", "memory of master-user")) for number in numbers):
        raise NoDataError(f"no rows of master-user in cost at {FEWEST} sizes or more")
    own = cost[cost["estimator"].isin(["master-user", "rtrl"])]
    notes = [] if (own["estimator"] == "rtrl").any() else ["cost has no rows of rtrl"]
    return decide((len(own), int(own["diverged"].sum())), numbers, notes)
