"""Curves of a metric against lateral ratio: means and one standard error over the networks that did not diverge."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, PercentFormatter, StrMethodFormatter

from colrun.drawing.counts import MANY
from colrun.drawing.ends import End
from colrun.drawing.lateral import LateralAxis
from colrun.drawing.layout import line
from colrun.drawing.style import Look, Style
from colrun.quality import METRICS

Pair = tuple[str, int | None]


def pairs(frame: pd.DataFrame) -> list[Pair]:
    """Estimators and windows of a table."""
    found = frame[["estimator", "window"]].drop_duplicates()
    return [
        (str(family), None if pd.isna(window) else int(window))
        for family, window in zip(found["estimator"], found["window"], strict=True)
    ]


def rows_of(frame: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    """The rows of one estimator and window."""
    family, window = pair
    same = frame["window"].isna() if window is None else frame["window"] == window
    return frame[(frame["estimator"] == family) & same]


def summary(frame: pd.DataFrame, metric: str, by: str = "lateral") -> pd.DataFrame:
    """Per level: mean, standard error and quartiles of the networks that did not diverge, and the share that did."""
    kept = frame[~frame["diverged"]].groupby(by)[metric]
    table = kept.agg(["mean", "sem", "count", "median"])
    table["low"], table["high"] = kept.quantile(0.25), kept.quantile(0.75)
    table = table.reindex(sorted(frame[by].unique()))
    table["lost"] = frame.groupby(by)["diverged"].mean()
    return table


def curve(ax: Axes, style: Style, axis: LateralAxis, table: pd.DataFrame, look: Look) -> End | None:
    """Line and band; where many networks diverged, faint open markers without a line. Returns the curve's end."""
    x, mean = axis.x(table.index.to_numpy()), table["mean"].to_numpy(dtype=float)
    poor = (table["lost"] > MANY).to_numpy()
    good = np.where(poor, np.nan, mean)
    error = table["sem"].fillna(0).to_numpy(dtype=float)
    options = line(look, style)
    ax.fill_between(x, good - error, good + error, color=look.colour, alpha=0.22, linewidth=0)
    ax.plot(x, good, **options)  # type: ignore[arg-type]
    if poor.any():
        few = {**options, "linestyle": "none", "marker": look.marker or "o", "markerfacecolor": "white", "alpha": 0.8}
        ax.plot(x[poor], mean[poor], **few)  # type: ignore[arg-type]
    there = np.flatnonzero(~np.isnan(good))
    if not len(there):
        return None
    last = there[-1]
    return End(float(x[last]), float(good[last]), look.short, look.colour, bold=look.width > 2)


def span(tables: Iterable[pd.DataFrame], metric: str) -> tuple[float, float]:
    """Limits of the metric's axis for all panels together, bands included; bounded metrics keep their upper end."""
    low, high = np.inf, -np.inf
    for table in tables:
        kept = table[table["mean"].notna()]
        error = kept["sem"].fillna(0).where(kept["lost"] <= MANY, 0.0)
        if len(kept):
            if METRICS[metric].logarithmic:
                low = min(low, float((kept["mean"] - error).where(lambda v: v > 0, kept["mean"]).min()))
            else:
                low = min(low, float((kept["mean"] - error).min()))
            high = max(high, float((kept["mean"] + error).max()))
    if not np.isfinite(low):
        low, high = (1e-3, 1.0) if METRICS[metric].logarithmic else (0.0, 1.0)
    if METRICS[metric].logarithmic:
        low = max(low, high * 1e-8)
        return low / 1.4, high * 1.4
    if metric == "cosine":
        return min(0.0, float(np.floor(10 * low) / 10)), 1.02
    return max(0.0, float(np.floor(10 * (low - 0.02)) / 10)), 1.01


def metric_axis(ax: Axes, metric: str, limits: tuple[float, float], ticks: int = 6) -> None:
    """Scale, limits and ticks; a dotted line at what a coin would reach, or at the true norm."""
    if METRICS[metric].logarithmic:
        ax.set_yscale("log")
        ax.set_ylim(limits)
        if limits[1] < 100 * limits[0]:  # less than two powers of ten: numbers between them need labels too
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=ticks))
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        else:
            ax.yaxis.set_major_locator(LogLocator(numticks=ticks))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.set_ylim(limits)
        ax.yaxis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
    if METRICS[metric].percent:
        ax.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    mark = METRICS[metric].mark
    if mark is not None and limits[0] < mark < limits[1]:
        ax.axhline(mark, color="0.6", linewidth=0.6, linestyle=":", zorder=0)
