"""Rows of networks → what the explorer draws: per curve and level, mean, error, quartiles and counts, and its look."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from colrun.drawing import Explored
from colrun.estimators import BY_WINDOW, EstimatorName, described
from colrun.networks.readings import READINGS
from colrun.quality import METRICS
from colrun.verdicts.scope import setting

STATISTICS = ("mean", "error", "median", "lower", "upper")
DASHES = {"solid": "", "dashed": "5 4", "dotted": "2 3", "dashdot": "9 3 2 3"}
COLOURS = 8
"""Of the page: `--c1` and so on, each with a light and a dark form."""


def explorer(frames: Iterable[pd.DataFrame], explored: Mapping[str, Explored]) -> dict[str, Any]:
    """All that the page's script needs: axes to pick from, metrics, and a setting for each combination that exists."""
    axes = [{"name": name, "title": axis.title, "usual": axis.usual} for name, axis in explored.items()]
    return {"axes": axes} | curves(frames, list(explored))


def curves(frames: Iterable[pd.DataFrame], axes: list[str]) -> dict[str, Any]:
    """One entry per setting of the axes, each with one curve per estimator; a network of two sweeps counts once.

    Rows of other sequences, or with a switch set alone, are left out: they are no curve of these settings.
    """
    alike = (setting(frame, steps=50, inputs=50) for frame in frames)
    kept = [frame for frame in alike if not frame.empty]
    metrics = [metric for metric in METRICS if any(metric in frame for frame in kept)]
    if not kept:
        return {"metrics": {}, "settings": []}
    needed = [*axes, "lateral", "seed", "estimator", "window", "diverged"]
    rows = pd.concat([frame.reindex(columns=[*needed, *metrics]) for frame in kept], ignore_index=True)
    rows = rows.drop_duplicates([*axes, "lateral", "seed", "estimator", "window"])
    rows = rows.fillna({"step_size": 0.0, "window": 0})
    rows.loc[rows["diverged"], metrics] = np.nan
    table = _statistics(rows, axes, metrics)
    settings = []
    for key, group in table.groupby(axes, sort=True):
        entry: dict[str, Any] = dict(zip(axes, [_plain(value) for value in cast(tuple[Any, ...], key)], strict=True))
        found = []
        for pair, points in group.groupby(["estimator", "window"]):
            family, window = cast(tuple[str, float], pair)
            found.append(_curve(family, int(window), points.sort_values("lateral"), metrics))
        settings.append(entry | {"curves": dressed(found)})
    readings = list(READINGS)
    settings.sort(key=lambda each: readings.index(each["reading"]) if each["reading"] in readings else len(readings))
    shown = {metric: METRICS[metric] for metric in metrics}
    titles = {name: (metric.summary, "percent" if metric.percent else "plain") for name, metric in shown.items()}
    return {"metrics": titles, "settings": settings}


def dressed(curves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In the order of the table of estimators, each with its look: colour, width, dash, and the text at its end.

    Sliding windows and blocks of one length share a colour; other estimators take what is left.
    """
    entries = {curve["family"]: described(curve["family"]) for curve in curves}
    ordered = sorted(curves, key=lambda each: (entries[each["family"]].order, each["family"], each["window"] or 0))
    windows = sorted({each["window"] or 0 for each in curves if entries[each["family"]].colour == BY_WINDOW})
    spare = len(windows)
    for each in ordered:
        entry = entries[each["family"]]
        by_window, main = entry.colour == BY_WINDOW, entry.order == 0
        place = windows.index(each["window"] or 0) if by_window else spare
        spare += not by_window and not main
        each["colour"] = "var(--ink)" if main else f"var(--c{place % COLOURS + 1})"
        each["width"], each["dash"] = 3 if main else 1.8, DASHES[entry.dash]
        each["end"] = each["name"] if not by_window else str(each["window"]) if entry.dash == "solid" else ""
    return ordered


def _statistics(rows: pd.DataFrame, axes: list[str], metrics: list[str]) -> pd.DataFrame:
    """Every statistic of every metric, one row per point."""
    groups = rows.groupby([*axes, "estimator", "window", "lateral"])
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
