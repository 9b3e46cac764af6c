"""How cost grows: exponents fitted to rows of the experiment `cost`, beside those of theory.

An exponent is the slope of log(cost) against log(axis) over networks that differ in nothing else (least squares, means
over seeds). The axes are those of estimators/theory.py:

    parameters   |θ|, grown by the width W
    columns      C at fixed W and lateral ratio, where |θ| ∝ C
    steps        T, the length of the sequence
    window       k, over the windows of one estimator
"""

from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from colrun.estimators import described
from colrun.estimators.theory import AXES
from colrun.experiments import EXPERIMENTS
from colrun.networks.readings import SWITCHES

QUANTITIES = ("operations", "memory", "seconds")
GROWN = {"parameters": "width", "columns": "columns", "steps": "steps", "window": "window"}
"""The column of a sweep that is varied along each axis."""
NAME = ("estimator", "window")
SETTING = tuple(axis.name for axis in EXPERIMENTS["cost"].axes if axis.name not in SWITCHES)
LEAST_POINTS = 3


def fit_exponents(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per estimator, window, axis, quantity and set of networks that differ along that axis alone.

    Columns: estimator, window (null along `window`), axis, quantity, those of `SETTING` (null where varied), `points`,
    `smallest` and `largest` value on the axis, `exponent`, `theory` (null where theory has no pure power, or says
    nothing), and `difference` = exponent - theory. Sets of fewer than three points are left out.
    """
    rows = []
    known = [name for name in (*NAME, *SETTING, *SWITCHES) if name in frame]
    for axis in AXES:
        varied = GROWN[axis]
        fixed = [name for name in known if name != varied]
        for key, group in frame.groupby(fixed, dropna=False, sort=True):
            if group[varied].nunique() < LEAST_POINTS:
                continue
            means = group.groupby(varied)[["parameters", *QUANTITIES]].mean()
            x = (means["parameters"] if axis == "parameters" else means.index.to_series()).to_numpy(dtype=float)
            same = dict(zip(fixed, key, strict=True)) | {varied: None}
            common = {name: same.get(name) for name in (*NAME, *SETTING)} | {"axis": axis, "points": len(means)}
            common |= {"smallest": x.min(), "largest": x.max()}
            even = axis == "parameters" and same["lateral"] in (0, cast(int, same["columns"]) - 1)
            for quantity in QUANTITIES:
                fitted = slope(x, means[quantity].to_numpy(dtype=float))
                expected = theory(str(same["estimator"]), quantity, axis, even)
                rows.append(common | {"quantity": quantity, "exponent": fitted, "theory": expected})
    columns = [*NAME, "axis", "quantity", *SETTING, "points", "smallest", "largest", "exponent", "theory"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(difference=table["exponent"].astype(float) - table["theory"].astype(float))


def slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Of log y against log x, by least squares; not a number where y is 0 somewhere."""
    if (y <= 0).any():
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def theory(estimator: str, quantity: str, axis: str, even: bool) -> float | None:
    """The exponent that the table of estimators states, on an even network or on any; None if it states none."""
    entry = described(estimator)
    power = {"operations": entry.operations, "memory": entry.memory}.get(quantity)
    return None if power is None else power.along(axis, even)
