"""How learners fare: curves, what the step size of θ does, and final errors. One row of panels per task and network.

Errors are medians over the networks that did not choose the step size (outcome.py), a diverged run counting as the
worst; bands are quartiles, bars 95 % intervals of the median.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from colrun.drawing import counts
from colrun.drawing.curves import Pair, pairs, rows_of
from colrun.drawing.layout import Margins, banner, heading, line, panels
from colrun.drawing.parts import drawing_order, legend_order, panel_axes, split
from colrun.drawing.source import Source
from colrun.drawing.style import GREY, Look, Style, looks
from colrun.experiments.learning import outcome
from colrun.tasks import get_task

MARGINS = Margins(left=4.4, right=11.5, top=2.9, bottom=5.0, across=3.2, down=5.0)
ROW = ("estimator", "window", "step")
HEIGHT, PER_LEARNER = 0.5, 0.095
UNDER_DOTS = "median and its 95 % interval;\nat the right: runs that solved it;\n* best η at the edge of those tried"


def draw(source: Source) -> Figure:
    frame, style = source.frame, source.style
    frame = frame[~frame["task"].map(lambda name: get_task(name).trivial is None)]
    others = [axis for axis in panel_axes(source) if axis not in ("task", "theta_step_size", "inputs", "step_size")]
    by_network = frame.groupby(["task", "lateral"])
    parts = [part for _, rows in by_network for part in split(rows, others)]
    look = looks(pairs(frame))
    figure, axes = panels(style, len(parts), 3, 1.55, HEIGHT + PER_LEARNER * len(look), MARGINS, [])
    for row, (title, part) in enumerate(parts):
        found = outcome.runs(part)
        kept = outcome.reported(found)
        if kept.empty:  # seeds that choose alone, as in a first try: they are all there is
            kept = outcome.reported(found.assign(seed=found["seed"] + outcome.CHOOSING), 0)
            kept["seed"] -= outcome.CHOOSING
        level = get_task(str(part["task"].iloc[0])).trivial
        assert level is not None
        limits = _limits(found, level)
        _curves(axes[row, 0], style, part, kept, look)
        _sensitivity(axes[row, 1], style, found, kept, look)
        _dots(axes[row, 2], style, kept, look)
        for column in range(3):
            _error_axis(axes[row, column], limits, level, vertical=column < 2)
        axes[row, 0].set_ylabel("mean squared error", labelpad=2)
        heading(axes[row, 0], style, _titled(title, part), *counts.note(part, source, ROW))
        heading(axes[row, 1], style, "", f"final error by η, {part['seed'].nunique()} networks each")
        heading(axes[row, 2], style, "", f"final error, {kept['seed'].nunique()} networks")
    axes[-1, 0].set_xlabel("step", labelpad=2)
    axes[-1, 1].set_xlabel("step size η of θ (ring: chosen)", labelpad=2)
    axes[-1, 2].set_xlabel(UNDER_DOTS, labelpad=2)
    banner(figure, style, counts.missing(source.frame, source.plan))
    return figure


def _titled(title: str, part: pd.DataFrame) -> str:
    """The task and the lateral level first, in words."""
    task, lateral, dense = part["task"].iloc[0], part["lateral"].iloc[0], part["columns"].iloc[0] - 1
    level = "no laterals" if lateral == 0 else "dense" if lateral == dense else f"{100 * lateral:g} % lateral"
    return ", ".join([str(task), level, title] if title else [str(task), level])


def _limits(found: pd.DataFrame, level: float) -> tuple[float, float]:
    """From the best run to a little above the trivial level: what is worse is at the edge."""
    best = found["final"].replace(math.inf, math.nan).dropna()
    low = float(best.quantile(0.01)) if len(best) else level / 10
    return max(low, 1e-6 * level) * 0.6, level * 2.5


def _error_axis(ax: Axes, limits: tuple[float, float], level: float, vertical: bool) -> None:
    """Logarithmic, with a line at the level of the best constant."""
    axis: Axis = ax.yaxis if vertical else ax.xaxis
    if vertical:
        ax.set_yscale("log")
        ax.set_ylim(*limits)
        ax.axhline(level, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    else:
        ax.set_xscale("log")
        ax.set_xlim(*limits)
        ax.axvline(level, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    axis.set_major_locator(LogLocator(numticks=5))
    axis.set_minor_formatter(NullFormatter())


def _curves(ax: Axes, style: Style, part: pd.DataFrame, kept: pd.DataFrame, look: dict[Pair, Look]) -> None:
    for pair in drawing_order(look):
        runs = rows_of(kept, pair)[["seed", "theta_step_size"]]
        rows = rows_of(part, pair).merge(runs, on=["seed", "theta_step_size"])
        if rows.empty:
            continue
        errors = rows.assign(mse=rows["mse"].mask(rows["diverged"] & rows["mse"].isna(), math.inf))
        by = errors.dropna(subset="mse").groupby("step")["mse"]
        low, middle, high = (by.quantile(q, interpolation="nearest") for q in (0.25, 0.5, 0.75))
        drawn: dict[str, Any] = {**line(look[pair], style), "marker": None}
        ax.fill_between(middle.index, low, high, color=look[pair].colour, alpha=0.10, linewidth=0)
        ax.plot(middle.index, middle, **drawn)
    ax.set_xlim(0, part["steps"].max())
    ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)


def _sensitivity(ax: Axes, style: Style, found: pd.DataFrame, kept: pd.DataFrame, look: dict[Pair, Look]) -> None:
    """All seeds of every step size."""
    ax.set_xscale("log")
    for pair in drawing_order(look):
        tried = rows_of(found, pair).dropna(subset="theta_step_size")
        if tried.empty:
            continue
        median = tried.groupby("theta_step_size")["final"].median()
        ax.plot(median.index, median.replace(math.inf, np.nan), **{**line(look[pair], style), "markersize": 2.0})  # type: ignore[arg-type]
        best = rows_of(kept, pair)["theta_step_size"].dropna()
        if len(best):
            ax.plot(best.iloc[0], float(median[best.iloc[0]]), "o", markersize=5 * style.line, markerfacecolor="none",
                    color=look[pair].colour, markeredgewidth=0.7 * style.line)  # fmt: skip


def _dots(ax: Axes, style: Style, kept: pd.DataFrame, look: dict[Pair, Look]) -> None:
    """A line per learner, which is also the key to the colours; beside it the share of runs that solved the task."""
    order = legend_order(look)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_yticks([])
    for place, pair in enumerate(order):
        runs, colour = rows_of(kept, pair), look[pair].colour
        text = look[pair].name
        if len(runs):
            middle = float(runs["final"].median())
            low, high = outcome.interval(runs["final"])
            ax.plot([low, min(high, 1e6)], [place, place], color=colour, linewidth=1.0 * style.line)
            ax.plot(middle, place, "o", color=colour, markersize=3.2 * style.line, clip_on=math.isinf(middle))
            text += f", {100 * runs['solved'].astype(float).mean():.0f} %" + (" *" if runs["edge"].any() else "")
        ax.annotate(text, (1, place), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                    va="center", ha="left", fontsize=style.small, color=colour, annotation_clip=False)  # fmt: skip
