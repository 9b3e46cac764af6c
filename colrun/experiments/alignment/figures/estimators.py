"""Alignment, cosine and norm ratio of all estimators against lateral ratio: they rank methods differently."""

from matplotlib.figure import Figure

from colrun.drawing import counts
from colrun.drawing.curves import curve, metric_axis, pairs, rows_of, span, summary
from colrun.drawing.ends import label_ends
from colrun.drawing.lateral import LateralAxis
from colrun.drawing.layout import Margins, banner, heading, key, panels
from colrun.drawing.parts import drawing_order, legend_order, panel_axes, split
from colrun.drawing.source import Source
from colrun.drawing.style import looks
from colrun.quality import METRICS

SHOWN = ("alignment", "cosine", "norm_ratio")
MARGINS = Margins(right=5.0, across=8.2, down=6.0)


def draw(source: Source) -> Figure:
    """A row per cell (and whatever else varies), a column per metric. Blocks have no label: they are dashed."""
    frame, style = source.frame, source.style
    parts = split(frame, panel_axes(source))
    look = looks(pairs(frame))
    keys = [key(look[pair], style) for pair in legend_order(look)]
    figure, axes = panels(style, len(parts), len(SHOWN), 1.5, 2.3, MARGINS, keys)
    for column, metric in enumerate(SHOWN):
        tables = [{pair: summary(rows_of(part, pair), metric) for pair in look} for _, part in parts]
        limits = span([table for each in tables for table in each.values()], metric)
        for row, (title, part) in enumerate(parts):
            ax = axes[row, column]
            axis = LateralAxis(part["lateral"], float(part["columns"].max() - 1))
            axis.apply(ax, style, label=False)
            ax.set_xlabel("lateral connections (%)", labelpad=2)
            metric_axis(ax, metric, limits)
            ends = []
            for pair in drawing_order(look):
                if tables[row][pair]["count"].sum():
                    end = curve(ax, style, axis, tables[row][pair], look[pair])
                    ends += [end] if end is not None and not look[pair].hollow else []
            label_ends(ax, style, ends)
            ax.set_ylabel(METRICS[metric].label, labelpad=2)
            if column == 0:
                heading(ax, style, title, *counts.note(part, source))
    banner(figure, style, counts.missing(frame, source.plan))
    return figure
