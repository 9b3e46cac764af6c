"""The claim on the cost of a step: the sweep cost, in which operations and memory of the online forms are counted.

|θ| grows in two ways: with the width W of so many columns, and with the number C of columns of one width and lateral
ratio. Master-User's cost must grow like |θ| in both. The full Jacobian of rtrl has |h| numbers per weight, so it must
grow faster than |θ| where C does; nothing is claimed of it where only W does.
"""

import math
from collections.abc import Iterator

import pandas as pd

from colrun.estimators import EstimatorName
from colrun.experiments.cost.exponents import SETTING, slope
from colrun.verdicts.scope import MASTER_USER, is_of
from colrun.verdicts.statistics import Estimate, estimate
from colrun.verdicts.verdict import NoDataError, Number, Verdict, decide, of

RTRL = EstimatorName("rtrl")
WITHIN = 0.1
FEWEST = 3
"""Sizes for a fit."""
WAYS = {"width": "W", "columns": "C"}


def exponent(rows: pd.DataFrame, quantity: str) -> Estimate:
    """Power of |θ| with which a quantity grows: a line through the logarithms, for each seed, then their mean."""
    slopes = {}
    for seed, points in rows.groupby("seed"):
        good = points[(points[quantity] > 0) & (points["parameters"] > 0)]
        if good["parameters"].nunique() >= FEWEST:
            slopes[seed] = slope(*(good[name].to_numpy(dtype=float) for name in ("parameters", quantity)))
    return estimate(pd.Series(slopes, dtype=float))


def fits(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Rows that differ in W or in C alone: (way, what is the same, rows)."""
    for way in WAYS:
        fixed = [name for name in SETTING if name != way and name in rows]
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


def linear_cost(cost: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Exponents of operations and memory per step in |θ|."""
    if cost.empty:
        raise NoDataError("no rows of cost")
    numbers: list[Number] = []
    for name in dict.fromkeys((who, RTRL)):
        for quantity in ("operations", "memory"):
            for way, where, group in fits(cost[is_of(cost, name)]):
                found = exponent(group[~group["diverged"]], quantity)
                if math.isnan(found.value):
                    continue
                title = f"{quantity} of {name}, exponent in |θ| as {WAYS[way]} grows"
                if name == who:
                    holds, bound = abs(found.value - 1) <= WITHIN, "1 ± 0.1"
                elif who == MASTER_USER and way == "columns":
                    holds, bound = found.value > 1 + WITHIN, "> 1.1"
                else:
                    holds, bound = None, ""
                numbers.append(of(title, where, found, holds, bound, unit=""))
    if not any(number.group.startswith((f"operations of {who},", f"memory of {who},")) for number in numbers):
        raise NoDataError(f"no rows of {who} in cost at {FEWEST} sizes or more")
    own = cost[is_of(cost, who) | is_of(cost, RTRL)]
    notes = [] if is_of(own, RTRL).any() else ["cost has no rows of rtrl"]
    return decide((len(own), int(own["diverged"].sum())), numbers, notes)
