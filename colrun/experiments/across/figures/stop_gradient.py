"""Drawing: where Master-User stops the gradient, with random groups in a dense network and with columns."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from colrun.drawing.shapes import COLUMN_COLOURS, TINTS, arrow, box, cross, sheet, unit, write
from colrun.drawing.source import Source
from colrun.drawing.style import DASHED, GREY, Style

Edge = tuple[int, int]
STATES = range(3)
EVERY = [(j, i) for j in STATES for i in STATES]
COLUMNS = [(0, 0), (1, 1), (2, 2), (0, 1)]
"""Edges (from, to) between states of two steps, or from weights to states."""
PARAMETERS, BEFORE, AFTER = 0.85, 1.75, 2.75
STEP, SHIFT = 0.85, 0.5


def draw(source: Source) -> Figure:
    """Left a dense network whose weights are in random groups, right three columns with one lateral connection."""
    style = source.style
    figure, ax = sheet(style, 6.8, 3.6)
    _network(ax, style, SHIFT, "random groups, dense network", EVERY, EVERY, in_columns=False)
    _network(ax, style, SHIFT + 3.35, "columns, few lateral connections", COLUMNS, COLUMNS, in_columns=True)
    arrow(ax, style, (0.55, 0.16), (0.9, 0.16), GREY, "-", 1.4, gap=0)
    write(ax, style, (0.97, 0.16), "gradient followed", GREY, ha="left", small=True)
    arrow(ax, style, (2.45, 0.16), (2.8, 0.16), GREY, DASHED, 0.9, gap=0)
    cross(ax, style, (2.62, 0.16))
    write(ax, style, (2.87, 0.16), "gradient stopped: the influence of a group on the state of another", GREY,
          ha="left", small=True)  # fmt: skip
    return figure


def _network(ax: Axes, style: Style, left: float, title: str, recurrent: list[Edge], inward: list[Edge],
             in_columns: bool) -> None:  # fmt: skip
    x = [left + 0.3 + STEP * i for i in STATES]
    for i in STATES:
        if in_columns:
            box(
                ax,
                style,
                (x[i] - 0.24, PARAMETERS - 0.22),
                (0.48, AFTER - PARAMETERS + 0.44),
                COLUMN_COLOURS[i],
                TINTS[i],
            )
        unit(ax, style, (x[i], BEFORE), COLUMN_COLOURS[i], 0.15, f"$h_{i + 1}$")
        unit(ax, style, (x[i], AFTER), COLUMN_COLOURS[i], 0.15, f"$h_{i + 1}$")
        box(ax, style, (x[i] - 0.17, PARAMETERS - 0.13), (0.34, 0.26), COLUMN_COLOURS[i], (1.0, 1.0, 1.0))
        write(ax, style, (x[i], PARAMETERS), f"$\\theta_{i + 1}$", COLUMN_COLOURS[i])
    stopped = _edges(ax, style, x, inward, PARAMETERS + 0.05, BEFORE, gap=11.5)
    stopped += _edges(ax, style, x, recurrent, BEFORE, AFTER, gap=11.5)
    write(ax, style, (left + 0.3 + STEP, AFTER + 0.58), title, bold=True)
    total = len(recurrent) + len(inward)
    write(ax, style, (left + 0.3 + STEP, AFTER + 0.36), f"{stopped} of {total} paths stopped", GREY, small=True)
    write(ax, style, (x[0] - 0.32, AFTER), "$t$", GREY, ha="right")
    write(ax, style, (x[0] - 0.32, BEFORE), "$t-1$", GREY, ha="right")
    words = "each group of weights feeds its own column" if in_columns else "weights of every group feed every state"
    write(ax, style, (left + 0.3 + STEP, PARAMETERS - 0.37), words, GREY, small=True)


def _edges(ax: Axes, style: Style, x: list[float], edges: list[Edge], low: float, high: float, gap: float) -> int:
    """Own ones are followed, the others stopped; returns how many were."""
    stopped = 0
    for j, i in edges:
        own = i == j
        arrow(ax, style, (x[j], low), (x[i], high), COLUMN_COLOURS[j], "-" if own else DASHED,
              1.8 if own else 0.8, gap=gap)  # fmt: skip
        if not own:
            stopped += 1
            part = 0.36 if abs(i - j) == 1 else 0.27  # apart, so that no two marks are one
            cross(ax, style, (x[j] + part * (x[i] - x[j]), low + part * (high - low)))
    return stopped
