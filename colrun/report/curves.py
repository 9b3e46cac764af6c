"""Rows of experiment alignment → what the explorer draws: per curve and level, mean, error, quartiles and counts."""

import math
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pandas as pd

from colrun.claims.scope import setting
from colrun.estimators import EstimatorName

METRICS = {
    "alignment": ("alignment: share of weights with the right sign", "percent"),
    "alignment_released": ("alignment as the released code counts it", "percent"),
    "cosine": ("cosine of estimate and truth", "plain"),
    "norm_ratio": ("norm ratio: size of the estimate over that of the truth", "plain"),
    "mae": ("mean absolute error", "plain"),
}
"""Metric → what it is, and how its axis is labelled."""
SETTING = ["reading", "cell", "columns", "width", "step_size"]
"""What a reader picks before estimators and metric."""
STATISTICS = ("mean", "error", "median", "lower", "upper")


def curves(frames: Iterable[pd.DataFrame]) -> dict[str, Any]:
    """One entry per setting, each with one curve per estimator; a network that two sweeps hold counts once.

    Rows of other sequences, or with a switch set alone, are left out: they are no curve of these settings.
    """
    kept = [setting(frame, steps=50, inputs=50) for frame in frames if not frame.empty]
    metrics = [metric for metric in METRICS if any(metric in frame for frame in kept)]
    if not kept:
        return {"metrics": {}, "settings": []}
    needed = [*SETTING, "lateral", "seed", "estimator", "window", "diverged"]
    rows = pd.concat([frame.reindex(columns=[*needed, *metrics]) for frame in kept], ignore_index=True)
    rows = rows.drop_duplicates([*SETTING, "lateral", "seed", "estimator", "window"])
    rows = rows.fillna({"step_size": 0.0, "window": 0})
    rows.loc[rows["diverged"], metrics] = np.nan
    table = _statistics(rows, metrics)
    settings = []
    for key, group in table.groupby(SETTING, sort=True):
        entry: dict[str, Any] = dict(zip(SETTING, [_plain(value) for value in cast(tuple[Any, ...], key)], strict=True))
        entry["curves"] = []
        for pair, points in group.groupby(["estimator", "window"]):
            family, window = cast(tuple[str, float], pair)
            entry["curves"].append(_curve(family, int(window), points.sort_values("lateral"), metrics))
        settings.append(entry)
    order = {"text": 0, "release": 1}
    settings.sort(key=lambda s: (order.get(s["reading"], 2), s["cell"], -s["step_size"], s["columns"], s["width"]))
    return {"metrics": {metric: METRICS[metric] for metric in metrics}, "settings": settings}


def _statistics(rows: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Every statistic of every metric, one row per point."""
    groups = rows.groupby([*SETTING, "estimator", "window", "lateral"])
    columns = {("n", ""): groups["seed"].size(), ("diverged", ""): groups["diverged"].sum()}
    quartiles = groups[metrics].quantile(np.array([0.25, 0.5, 0.75])).unstack()
    means, errors = groups[metrics].mean(), groups[metrics].sem()
    for metric in metrics:
        columns[metric, "mean"], columns[metric, "error"] = means[metric], errors[metric]
        for name, share in (("lower", 0.25), ("median", 0.5), ("upper", 0.75)):
            columns[metric, name] = quartiles[metric, share]
    table = pd.DataFrame({f"{metric}.{name}".rstrip("."): values for (metric, name), values in columns.items()})
    return table.reset_index()


def _curve(family: str, window: int, points: pd.DataFrame, metrics: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": str(EstimatorName(family, window or None)),
        "family": family,
        "window": window or None,
        "lateral": [_plain(value) for value in points["lateral"]],
        "n": [int(value) for value in points["n"]],
        "diverged": [int(value) for value in points["diverged"]],
    }
    for metric in metrics:
        found[metric] = [[_short(value) for value in points[f"{metric}.{name}"]] for name in STATISTICS]
    return found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _short(value: float) -> float | None:
    """Five digits: more than any error here leaves."""
    return float(f"{value:.5g}") if math.isfinite(value) else None
