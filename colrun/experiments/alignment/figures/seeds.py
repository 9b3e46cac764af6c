"""Network by network: what a mean hides. Every network faintly, median and quartiles, and the mean for comparison."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from colrun.drawing import counts
from colrun.drawing.curves import metric_axis, pairs, rows_of, summary
from colrun.drawing.lateral import LABEL, LateralAxis
from colrun.drawing.layout import Grid, Margins, banner, heading, panels
from colrun.drawing.parts import legend_order, panel_axes, split
from colrun.drawing.source import Source
from colrun.drawing.style import BLACK, DOTTED, WARNING, Style, looks
from colrun.quality import METRICS

WIDTH, HEIGHT = 1.02, 1.45


def draw(source: Source) -> Figure:
    """A row per reading, a column per estimator, sliding windows only."""
    frame, style, metric = source.frame, source.style, source.metric
    look = looks(pairs(frame))
    chosen = [pair for pair in legend_order(look) if not look[pair].hollow]
    shown = frame[frame["estimator"].isin([family for family, _ in chosen])]
    parts = split(shown, panel_axes(source))
    margins = Margins(right=0.8, across=1.0, top=5.0, down=5.4)
    figure, axes = panels(style, len(parts), len(chosen), WIDTH, HEIGHT, margins, _keys(style))
    limits = _limits(shown, metric)
    for row, (title, part) in enumerate(parts):
        axis = LateralAxis(part["lateral"], float(part["columns"].max() - 1))
        for column, pair in enumerate(chosen):
            ax = axes[row, column]
            axis.apply(ax, style, label=False, narrow=True)
            metric_axis(ax, metric, limits)
            _panel(ax, style, axis, rows_of(part, pair), metric)
            name = look[pair].name
            heading(ax, style, "", name)
            if column:
                ax.tick_params(labelleft=False)
        _row(axes, row, style, title, part, source)
        axes[row, 0].set_ylabel(METRICS[metric].label, labelpad=2)
    width = figure.get_size_inches()[0]
    figure.text(
        0.5 + style.em(1.8) / width, style.em(0.3) / figure.get_size_inches()[1], LABEL, ha="center", va="bottom"
    )
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def _row(axes: Grid, row: int, style: Style, title: str, part: pd.DataFrame, source: Source) -> None:
    """Title and number of networks over the first panel of a row."""
    text, warn = counts.note(part, source)
    axes[row, 0].annotate(
        f"{title + ': ' if title else ''}{text}", (0, 1), (0, 2.5 + 1.35 * style.small), xycoords="axes fraction",
        textcoords="offset points", fontweight="bold", color=WARNING if warn else BLACK, va="bottom",
        annotation_clip=False, gid="title",
    )  # fmt: skip


def _panel(ax: Axes, style: Style, axis: LateralAxis, rows: pd.DataFrame, metric: str) -> None:
    kept = rows[~rows["diverged"]]
    if kept.empty:
        ax.text(0.5, 0.5, "all diverged", transform=ax.transAxes, ha="center", color=WARNING, fontsize=style.small)
        return
    table = kept.pivot_table(index="seed", columns="lateral", values=metric)
    x = axis.x(table.columns.to_numpy(dtype=float))
    lines = [np.column_stack([x, values]) for values in table.to_numpy()]
    faint = max(0.2, min(0.6, 20 / len(lines)))
    ax.add_collection(LineCollection(lines, colors="0.35", linewidths=0.35 * style.line, alpha=faint))
    found = summary(rows, metric)
    x = axis.x(found.index.to_numpy(dtype=float))
    ax.fill_between(x, found["low"], found["high"], color=_BAND, alpha=0.35, linewidth=0)
    ax.plot(x, found["median"], color=_LINE, linewidth=1.6 * style.line)
    ax.plot(x, found["mean"], color=BLACK, linewidth=1.1 * style.line, linestyle=DOTTED)


_BAND, _LINE = (0.34, 0.71, 0.91), (0.0, 0.36, 0.60)


def _limits(frame: pd.DataFrame, metric: str) -> tuple[float, float]:
    """From the least to the most of any network, extremes of unbounded metrics left out."""
    values = frame[~frame["diverged"]][metric].dropna()
    if values.empty:
        return (1e-3, 1.0) if METRICS[metric].logarithmic else (0.0, 1.0)
    if METRICS[metric].logarithmic:
        values = values[values > 0]
        return float(values.quantile(0.002)) / 1.5, float(values.quantile(0.998)) * 1.5
    return float(np.floor(10 * values.min()) / 10) - 0.01, 1.02


def _keys(style: Style) -> list[Line2D | Patch]:
    return [
        Line2D([], [], color=_LINE, linewidth=1.6 * style.line, label="median"),
        Patch(color=_BAND, alpha=0.35, linewidth=0, label="quartiles"),
        Line2D([], [], color=BLACK, linewidth=1.1 * style.line, linestyle=DOTTED, label="mean"),
        Line2D([], [], color="0.35", linewidth=0.5 * style.line, label="one network"),
    ]
