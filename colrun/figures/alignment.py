"""A metric against lateral ratio, one panel per reading (and cell, and step size): means and one standard error."""

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from colrun.figures import counts
from colrun.figures.curves import Pair, curve, metric_axis, pairs, rows_of, span, summary
from colrun.figures.ends import label_ends
from colrun.figures.lateral import LateralAxis
from colrun.figures.layout import Margins, banner, heading, key, panels
from colrun.figures.source import Source
from colrun.figures.style import DASHED, GREY, METRIC_NAMES, Look, Style, looks

PANEL_AXES = ("reading", "cell", "columns", "width", "step_size", "init", "own_state", "state_bias",
              "mask_own_recurrence", "mask_recurrence", "dtype", "steps", "inputs")  # fmt: skip
READINGS = ("text", "release")
BY_READING = ("init", "own_state", "state_bias", "mask_own_recurrence", "mask_recurrence")
"""Differ between readings by definition, and so need not be named beside them."""
WIDTH, HEIGHT = 2.75, 2.15
"""Inches of a panel: with what stands beside it 3.3 wide, a column of a two-column page."""


def draw(source: Source) -> Figure:
    """Panels of one row each reading if step sizes vary, else side by side."""
    frame, style, metric = source.frame, source.style, source.metric
    parts = split(frame)
    rows, columns, width = arrangement(frame, len(parts))
    look = looks(pairs(frame))
    beside = 1.4 + 0.6 * max(len(look[pair].short) for pair in look if pair[0] != "tbptt-block")
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
                if end is not None and pair[0] != "tbptt-block":
                    ends.append(end)
        label_ends(ax, style, ends)
        heading(ax, style, title, *counts.note(part, source.plan))
        if n % columns:
            ax.tick_params(labelleft=False)
        else:
            ax.set_ylabel(METRIC_NAMES[metric], labelpad=2)
    for ax in axes.flat[len(parts) :]:
        ax.set_axis_off()
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def split(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """A title and rows per panel: one for each combination of the axes that vary."""
    varying = [axis for axis in PANEL_AXES if frame[axis].nunique(dropna=False) > 1]
    if not varying:
        return [("", frame)]
    if "reading" in varying:
        by_reading = frame.groupby("reading", dropna=False)
        varying = [axis for axis in varying if axis not in BY_READING or by_reading[axis].nunique().max() > 1]

    def order(pair: tuple[tuple[object, ...], pd.DataFrame]) -> tuple[object, ...]:
        values = dict(zip(varying, pair[0], strict=True))
        reading = values.pop("reading", None)
        return (READINGS.index(str(reading)) if reading in READINGS else 9, *map(_sortable, values.values()))

    groups = sorted(((tuple(key), part) for key, part in frame.groupby(varying, dropna=False)), key=order)
    return [(", ".join(titled(axis, value) for axis, value in zip(varying, key, strict=True)), part)
            for key, part in groups]  # fmt: skip


def _sortable(value: object) -> float | str:
    return -float(value) if isinstance(value, float) else str(value)  # large step sizes first


def titled(axis: str, value: object) -> str:
    """A parameter as a title has it."""
    names = {"reading": f"reading “{value}”", "cell": f"{value}", "columns": f"C = {value}", "width": f"W = {value}"}
    if axis == "step_size":
        return "fixed w" if pd.isna(value) else f"α = {value:g}"  # type: ignore[call-overload]
    return names.get(axis, f"{axis} {value}")


def arrangement(frame: pd.DataFrame, number: int) -> tuple[int, int, float]:
    """Rows, columns and width of panels: a row per reading where something else varies too."""
    readings = frame["reading"].nunique()
    if number > 2 and number % readings == 0 and number // readings <= 4:
        columns = number // readings
    else:
        columns = min(number, 3)
    return -(-number // columns), columns, WIDTH if columns <= 2 else 1.85


def drawing_order(look: dict[Pair, Look]) -> list[Pair]:
    """Blocks below, Master-User on top."""
    return sorted(look, key=lambda pair: (look[pair].width, pair[0] != "tbptt-block", pair[1] or 0))


def legend_order(look: dict[Pair, Look]) -> list[Pair]:
    """Master-User first, T-BPTT last."""
    return sorted(look, key=lambda pair: (pair[0] != "master-user", pair[0].startswith("tbptt"), pair[0], pair[1] or 0))


def keys(look: dict[Pair, Look], style: Style) -> list[Artist]:
    """The legend: what the lines are; the numbers at their ends are windows."""
    found: list[Artist] = [key(look[p], style) for p in legend_order(look) if not p[0].startswith("tbptt")]
    if any(family == "tbptt" for family, _ in look):
        found.append(key(Look(GREY, marker="o", name="T-BPTT, last k steps (k at the right)"), style))
    if any(family == "tbptt-block" for family, _ in look):
        found.append(key(Look(GREY, DASHED, "o", hollow=True, name="T-BPTT, blocks of k"), style))
    return found
