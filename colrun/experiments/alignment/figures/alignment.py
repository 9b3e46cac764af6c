"""A metric against lateral ratio, one panel per reading (and cell, and step size): means and one standard error."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from colrun.drawing import counts
from colrun.drawing.curves import Pair, curve, metric_axis, pairs, rows_of, span, summary
from colrun.drawing.ends import label_ends
from colrun.drawing.lateral import LateralAxis
from colrun.drawing.layout import Margins, banner, heading, key, panels
from colrun.drawing.parts import drawing_order, legend_order, panel_axes, split
from colrun.drawing.source import Source
from colrun.drawing.style import GREY, Look, Style, looks
from colrun.estimators import EstimatorEntry
from colrun.quality import METRICS

WIDTH, HEIGHT = 2.75, 2.15
"""Inches of a panel: with what stands beside it 3.3 wide, a column of a two-column page."""


def draw(source: Source, others: Mapping[str, EstimatorEntry] | None = None) -> Figure:
    """Panels of one row each reading if step sizes vary, else side by side; `others` describe what is no estimator."""
    frame, style, metric = source.frame, source.style, source.metric
    parts = split(frame, panel_axes(source))
    rows, columns, width = arrangement(frame, len(parts))
    look = looks(pairs(frame), others)
    beside = 1.4 + 0.6 * max(len(each.short) for each in look.values() if not each.hollow)
    margins = Margins(right=beside, across=beside + 0.6, down=6.0)
    figure, axes = panels(style, rows, columns, width, HEIGHT, margins, keys(look, style))
    tables = {n: {pair: summary(rows_of(part, pair), metric) for pair in look} for n, (_, part) in enumerate(parts)}
    limits = span([table for each in tables.values() for table in each.values()], metric)
    for n, (title, part) in enumerate(parts):
        ax = axes[divmod(n, columns)]
        axis = LateralAxis(part["lateral"], float(part["columns"].max() - 1))
        axis.apply(ax, style)
        metric_axis(ax, metric, limits)
        ends = []
        for pair in drawing_order(look):
            if tables[n][pair]["count"].sum():
                end = curve(ax, style, axis, tables[n][pair], look[pair])
                if end is not None and not look[pair].hollow:
                    ends.append(end)
        label_ends(ax, style, ends)
        heading(ax, style, title, *counts.note(part, source))
        if n % columns:
            ax.tick_params(labelleft=False)
        else:
            ax.set_ylabel(METRICS[metric].label, labelpad=2)
    for ax in axes.flat[len(parts) :]:
        ax.set_axis_off()
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def arrangement(frame: pd.DataFrame, number: int) -> tuple[int, int, float]:
    """Rows, columns and width of panels: a row per reading where something else varies too."""
    readings = frame["reading"].nunique()
    if number > 2 and number % readings == 0 and number // readings <= 4:
        columns = number // readings
    else:
        columns = min(number, 3)
    return -(-number // columns), columns, WIDTH if columns <= 2 else 1.85


def keys(look: dict[Pair, Look], style: Style) -> list[Artist]:
    """The legend: what the lines are; the numbers at their ends are windows."""
    found: dict[str, Artist] = {}
    for each in (look[pair] for pair in legend_order(look)):
        if each.legend:
            found[each.legend] = key(Look(GREY, each.dash, "o", each.hollow, name=each.legend), style)
        else:
            found[each.name] = key(each, style)
    return list(found.values())
