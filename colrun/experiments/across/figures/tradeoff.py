"""What an estimator's quality costs: a metric against operations and memory per step, at some lateral levels."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from colrun.drawing import counts
from colrun.drawing.curves import Pair, metric_axis, pairs
from colrun.drawing.layout import Margins, banner, heading, line, panels
from colrun.drawing.parts import legend_order
from colrun.drawing.source import Source
from colrun.drawing.style import Look, Style, looks
from colrun.experiments.across.tradeoff import tradeoff
from colrun.quality import METRICS

LEVELS = (0.01, 0.1, 1.0)
"""Few, some and as many lateral as own connections; others where a sweep has none of these."""
PRICES = {"operations": "operations per step", "memory": "bytes held between steps"}
"""Both: backpropagation over everything is cheap in operations and pays in memory, which grows with time."""
MARGINS = Margins(right=1.0, across=1.6, down=6.0, top=5.6)


def draw(source: Source) -> Figure:
    """Two rows per cell, by operations and by memory, and a column per level; grey joins what nothing cheaper beats."""
    style, metric = source.style, source.metric
    joined = tradeoff(source.frames["estimators"], source.frames["cost"])
    there = sorted(joined["lateral"].unique())
    levels = [level for level in LEVELS if level in there] or there[:3]
    cells = sorted(joined["cell"].unique())
    look = looks(pairs(joined))
    keys: list[Artist] = [_mark(look[pair], style) for pair in legend_order(look)]
    keys.append(Line2D([], [], color="0.75", linewidth=3 * style.line, label="best at the price"))
    figure, axes = panels(style, len(cells) * len(PRICES), len(levels), 1.95, 1.75, MARGINS, keys)
    limits = _limits(joined[joined["lateral"].isin(levels)], metric)
    for row, (cell, price) in enumerate(itertools.product(cells, PRICES)):
        for column, level in enumerate(levels):
            ax = axes[row, column]
            part = joined[(joined["cell"] == cell) & (joined["lateral"] == level)]
            metric_axis(ax, metric, limits)
            _panel(ax, style, part.assign(price=part[price]), look, metric)
            rows = source.frames["estimators"]
            rows = rows[(rows["cell"] == cell) & (rows["lateral"] == level)]
            told = counts.note(rows, source) if len(part) else ("no data", True)
            heading(ax, style, f"{cell}, {100 * level:g} % lateral", *told)
            ax.set_xlabel(PRICES[price], labelpad=2)
            if column:
                ax.tick_params(labelleft=False)
            else:
                ax.set_ylabel(METRICS[metric].label, labelpad=2)
    lacking = {name: counts.missing(frame, source.plans.get(name)) for name, frame in source.frames.items()}
    banner(figure, style, "\n".join(f"{name} {text}" for name, text in lacking.items() if text))
    return figure


def _limits(joined: pd.DataFrame, metric: str) -> tuple[float, float]:
    values = joined[metric].dropna()
    if METRICS[metric].logarithmic:
        values = values[values > 0]
        return float(values.min()) / 1.4, float(values.max()) * 1.4
    low = float(np.floor(10 * (values.min() - 0.02)) / 10)
    return (max(0.0, low) if metric == "alignment" else low), 1.03


def _panel(ax: Axes, style: Style, part: pd.DataFrame, look: dict[Pair, Look], metric: str) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(numticks=6))
    ax.xaxis.set_minor_formatter(NullFormatter())
    part = part.sort_values("price")
    if not METRICS[metric].logarithmic:
        best = part[part[metric] >= part[metric].cummax()]
        ax.step(best["price"], best[metric], where="post", color="0.75", linewidth=3 * style.line, zorder=0)
    for family, rows in part.groupby("estimator"):
        if rows["window"].notna().any():
            first = look[str(family), int(rows["window"].iloc[0])]
            rows = rows.sort_values("window")
            ax.plot(rows["price"], rows[metric], color="0.4", linestyle=first.dash, linewidth=0.7 * style.line)
        for window, x, y, error in zip(rows["window"], rows["price"], rows[metric], rows[f"{metric}_sem"], strict=True):
            each = look[str(family), None if pd.isna(window) else int(window)]
            options = _point(each, style)
            ax.errorbar(x, y, yerr=None if pd.isna(error) else error, elinewidth=0.8 * style.line, **options)  # type: ignore[arg-type]
    _number_windows(ax, style, part, look, metric)


def _point(look: Look, style: Style) -> dict[str, object]:
    """A marker without a line; that of the method under study is a star."""
    options = line(look, style) | {"linestyle": "none", "markersize": 5.0 * style.line}
    return options | ({"marker": "*", "markersize": 10 * style.line, "zorder": 4} if look.main else {})


def _mark(look: Look, style: Style) -> Line2D:
    """Its line of the legend."""
    return Line2D([], [], label=look.name, **_point(look, style))  # type: ignore[arg-type]


def _number_windows(ax: Axes, style: Style, rows: pd.DataFrame, look: dict[Pair, Look], metric: str) -> None:
    """Over the points of T-BPTT, where there is room; the legend has them all."""
    taken: list[tuple[float, float]] = []
    for family, window, x, y in zip(rows["estimator"], rows["window"], rows["price"], rows[metric], strict=True):
        each = look[family, None if pd.isna(window) else int(window)]
        if not each.legend or each.hollow:
            continue
        at = ax.transData.transform((x, y)) * 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
        if pd.isna(y) or any(abs(at[0] - a) < 2 * style.small and abs(at[1] - b) < 1.3 * style.small for a, b in taken):
            continue
        taken.append((float(at[0]), float(at[1])))
        ax.annotate(each.short, (x, y), (0, 3.5 * style.line), textcoords="offset points", ha="center", va="bottom",
                    fontsize=style.small, color=each.colour)  # fmt: skip
