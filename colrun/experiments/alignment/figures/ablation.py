"""Master-User with and without the meta-gradient: alignment and mean absolute error side by side."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from colrun.drawing import counts
from colrun.drawing.curves import curve, metric_axis, pairs, rows_of, span, summary
from colrun.drawing.lateral import LateralAxis
from colrun.drawing.layout import Margins, banner, heading, key, panels
from colrun.drawing.source import Source
from colrun.drawing.style import GREY, Look, looks
from colrun.networks.readings import READINGS
from colrun.quality import METRICS

SHOWN = ("alignment", "mae")


def draw(source: Source) -> Figure:
    """A row per step size; per reading a panel for each metric."""
    frame, style = source.frame, source.style
    readings = [reading for reading in READINGS if reading in set(frame["reading"])]
    sizes = sorted(frame["step_size"].dropna().unique(), reverse=True)
    look = looks(pairs(frame))
    groups = [rows_of(rows, pair) for _, rows in frame.groupby(["reading", "step_size"]) for pair in look]
    aligned = span([summary(rows, "alignment") for rows in groups], "alignment")
    keys = [key(look[pair], style) for pair in look]
    if (frame.groupby(["reading", "step_size", "lateral"])["diverged"].mean() > counts.MANY).any():
        few = Look(GREY, "none", "o", hollow=True, name=f"mean of the rest where over {counts.MANY:.0%} diverged")
        keys.append(key(few, style))
    margins = Margins(left=4.4, right=0.8, across=5.0, down=5.2, top=5.0)
    figure, axes = panels(style, len(sizes), 2 * len(readings), 1.18, 1.3, margins, keys)
    for column, (reading, metric) in enumerate((r, m) for r in readings for m in SHOWN):
        part = frame[frame["reading"] == reading]
        axis = LateralAxis(part["lateral"], float(part["columns"].max() - 1))
        for row, size in enumerate(sizes):
            rows, ax = part[part["step_size"] == size], axes[row, column]
            tables = {pair: summary(rows_of(rows, pair), metric) for pair in look}
            axis.apply(ax, style, label=False, narrow=True)
            metric_axis(ax, metric, aligned if metric == "alignment" else span(tables.values(), metric), ticks=5)
            for pair, table in tables.items():
                if table["count"].sum():
                    curve(ax, style, axis, table, look[pair])
            ax.set_ylabel(METRICS[metric].label, labelpad=1)
            if row == len(sizes) - 1:
                ax.set_xlabel("lateral connections (%)", labelpad=2)
            if metric == "alignment":
                heading(ax, style, f"reading “{reading}”, α = {size:g}", *counts.note(rows, source))
            else:
                heading(ax, style, "", _lost(rows), warn=True)
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def _lost(rows: pd.DataFrame) -> str:
    """How many diverged, where they are many at every level: points of such a panel are not to be read as a result."""
    many = np.min(rows.groupby("lateral")["diverged"].mean()) > counts.MANY
    return f"{100 * rows['diverged'].mean():.1f} % diverged" if many else ""
