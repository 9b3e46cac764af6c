"""Mean absolute state of untrained cells from a state of ones at zero input, by cell, bias and hidden units."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MultipleLocator, NullFormatter

from colrun.drawing import counts
from colrun.drawing.ends import End, label_ends
from colrun.drawing.layout import Margins, banner, heading, key, line, panels
from colrun.drawing.source import Source
from colrun.drawing.style import MARKERS, Look, Style, window_colour

QUANTITIES = {("lstm", "h"): "LSTM, h", ("lstm", "memory"): "LSTM, memory", ("gru", "h"): "GRU, h"}
LOW, HIGH = 2e-5, 1.6
MARGINS = Margins(right=2.6, across=3.2, down=6.0)
ROW = ("step", "quantity")


def draw(source: Source) -> Figure:
    """A row without and one with bias, a column per state; logarithmic, so that decay is a straight line."""
    frame, style = source.frame, source.style
    columns = [pair for pair in QUANTITIES if ((frame["cell"] == pair[0]) & (frame["quantity"] == pair[1])).any()]
    biases = sorted(frame["bias"].unique())
    sizes = [int(size) for size in sorted(frame["hidden"].unique())]
    look = {
        size: Look(
            window_colour(n, len(sizes)), marker=MARKERS[n % len(MARKERS)], name=f"{size} units", short=f"{size}"
        )
        for n, size in enumerate(sizes)
    }
    keys = [key(each, style) for each in look.values()]
    figure, axes = panels(style, len(biases), len(columns), 1.78, 1.75, MARGINS, keys)
    for row, bias in enumerate(biases):
        for column, (cell, quantity) in enumerate(columns):
            ax = axes[row, column]
            part = frame[(frame["cell"] == cell) & (frame["quantity"] == quantity) & (frame["bias"] == bias)]
            if part.empty:
                ax.set_axis_off()
                continue
            _panel(ax, style, part, look)
            title = f"{QUANTITIES[cell, quantity]}, {'with' if bias else 'no'} bias"
            heading(ax, style, title, *counts.note(part, source, ROW))
            if column:
                ax.tick_params(labelleft=False)
            else:
                ax.set_ylabel("mean |state|", labelpad=2)
            ax.set_xlabel("steps of zero input", labelpad=2)
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def _panel(ax: Axes, style: Style, part: pd.DataFrame, look: dict[int, Look]) -> None:
    ax.set_yscale("log")
    ax.set_ylim(LOW, HIGH)
    ax.set_xlim(0, part["step"].max() * 1.02)
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_locator(MultipleLocator(5))
    ends = []
    for n, (size, each) in enumerate(look.items()):
        kept = part[(part["hidden"] == size) & ~part["diverged"]].groupby("step")["value"].agg(["mean", "sem"])
        if kept.empty:
            continue
        error = kept["sem"].fillna(0)
        ax.fill_between(kept.index, (kept["mean"] - error).clip(lower=LOW / 10), kept["mean"] + error,
                        color=each.colour, alpha=0.22, linewidth=0)  # fmt: skip
        ax.plot(kept.index, kept["mean"], **line(each, style), markevery=(n % 4, 4))  # type: ignore[arg-type]
        inside = kept[kept["mean"] > LOW]
        if inside.index[-1] == kept.index[-1]:
            ends.append(End(float(inside.index[-1]), float(inside["mean"].iloc[-1]), each.short, each.colour))
    label_ends(ax, style, ends)
