"""Operations and memory per step of every online form, measured, with fitted exponents beside those of theory."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, NullFormatter

from colrun.drawing import counts
from colrun.drawing.curves import pairs, rows_of
from colrun.drawing.ends import End, label_ends
from colrun.drawing.layout import Margins, banner, heading, key, line, panels
from colrun.drawing.parts import legend_order
from colrun.drawing.source import Source
from colrun.drawing.style import Look, Style, looks
from colrun.experiments.cost.exponents import SETTING, fit_exponents

QUANTITIES = {"operations": "operations per step", "memory": "bytes held between steps"}
AXES = {
    "parameters": ("width", "weights |θ|"),
    "columns": ("columns", "columns C"),
    "steps": ("steps", "sequence length T"),
}
"""Axis of theory → the column that is varied, and its label."""
MARGINS = Margins(left=4.6, right=9.4, across=13.4, down=5.6, top=5.0)


def draw(source: Source) -> Figure:
    """A row per quantity, a column per axis: log cost against log size, so that an exponent is a slope."""
    frame, style = source.frame, source.style
    fits = fit_exponents(frame)
    look = looks(pairs(frame))
    shown = [axis for axis in AXES if (fits["axis"] == axis).any()]
    keys = [key(look[pair], style) for pair in legend_order(look)]
    figure, axes = panels(style, len(QUANTITIES), len(shown), 1.05, 2.3, MARGINS, keys)
    for column, axis in enumerate(shown):
        chosen, words = _setting(fits[fits["axis"] == axis], AXES[axis][0])
        for row, (quantity, label) in enumerate(QUANTITIES.items()):
            ax = axes[row, column]
            picked = chosen[chosen["quantity"] == quantity]
            _panel(ax, style, frame, picked, look, axis, quantity)
            ax.set_xlabel(AXES[axis][1], labelpad=2)
            ax.set_ylabel(label, labelpad=1)
            heading(ax, style, words if row == 0 else "", "exponent measured (theory)")
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def _setting(fits: pd.DataFrame, varied: str) -> tuple[pd.DataFrame, str]:
    """The networks with most points along an axis, of those the sparsest; and what they share, in words."""
    fixed = [name for name in SETTING if name != varied]
    groups = [(int(group["points"].max()), -float(group["lateral"].iloc[0]), group)
              for _, group in fits.groupby(fixed, dropna=False)]  # fmt: skip
    chosen = max(groups, key=lambda each: each[:2])[2]
    first = chosen.iloc[0]
    shape = {"columns": f"C = {first['columns']:.0f}" if varied != "columns" else "",
             "width": f"W = {first['width']:.0f}" if varied != "width" else "",
             "lateral": f"{100 * first['lateral']:g} % lateral"}  # fmt: skip
    return chosen, ", ".join(word for word in shape.values() if word)


def _panel(ax: Axes, style: Style, frame: pd.DataFrame, fits: pd.DataFrame, look: dict[tuple[str, int | None], Look],
           axis: str, quantity: str) -> None:  # fmt: skip
    varied = AXES[axis][0]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ends = []
    for pair, each in look.items():
        fit = rows_of(fits, pair)
        if fit.empty:
            continue
        same = rows_of(frame, pair)
        for name in SETTING:
            value = fit[name].iloc[0]
            if name != varied and name in same:
                same = same[same[name].isna() if pd.isna(value) else same[name] == value]
        means = same.groupby(varied)[["parameters", quantity]].mean()
        x = means["parameters"] if axis == "parameters" else means.index.to_series()
        known = means[quantity] > 0
        if not known.any():
            continue
        ax.plot(x[known], means[quantity][known], **line(each, style))  # type: ignore[arg-type]
        exponent, theory = fit["exponent"].iloc[0], fit["theory"].iloc[0]
        told = "–" if pd.isna(theory) else f"{theory:g}"
        kind = ("blocks " if each.hollow else "window ") if each.legend else ""
        name = kind + each.short
        text = name if pd.isna(exponent) else f"{name} {round(exponent, 2) + 0.0:.2f} ({told})"
        ends.append(End(float(x[known].iloc[-1]), float(means[quantity][known].iloc[-1]), text, each.colour))
    _ticks(ax, axis)
    label_ends(ax, style, ends)


def _ticks(ax: Axes, axis: str) -> None:
    """Sizes that were measured, where they are few and round; powers of ten elsewhere."""
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_formatter(NullFormatter())
    if axis == "parameters":
        ax.xaxis.set_major_locator(LogLocator(numticks=4))
    else:
        found = sorted({float(x) for drawn in ax.lines for x in np.asarray(drawn.get_xdata(), dtype=float)})
        ax.xaxis.set_major_locator(FixedLocator(found))
        ax.xaxis.set_major_formatter(FixedFormatter([f"{x:g}" for x in found]))
        ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.xaxis.set_minor_formatter(NullFormatter())
