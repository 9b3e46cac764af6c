"""A metric against lateral ratio for every shape of network: a page of C x W panels per step size."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from colrun.drawing import counts
from colrun.drawing.curves import Pair, curve, metric_axis, pairs, rows_of, span, summary
from colrun.drawing.ends import label_ends
from colrun.drawing.lateral import LABEL, LateralAxis
from colrun.drawing.layout import Grid, Margins, banner, heading, key, panels
from colrun.drawing.parts import drawing_order, legend_order, panel_axes, titled
from colrun.drawing.source import Source
from colrun.drawing.style import Look, Style, looks
from colrun.errors import InvalidValueError
from colrun.quality import METRICS

WIDTH, HEIGHT = 1.16, 0.95


def draw(source: Source) -> Figure:
    """Blocks of panels below each other, one per step size; rows are C, columns W."""
    frame, style, metric = source.frame, source.style, source.metric
    for axis in panel_axes(source):
        if axis not in ("columns", "width", "step_size") and frame[axis].nunique(dropna=False) > 1:
            raise InvalidValueError(
                f"figure {source.sweep} shows one {axis}, and its results hold {frame[axis].nunique(dropna=False)}; "
                "give the others a sweep of another name."
            )
    sizes = sorted(frame["step_size"].unique(), reverse=True)
    Cs, Ws = (sorted(int(value) for value in frame[name].unique()) for name in ("columns", "width"))
    look = looks(pairs(frame))
    keys = [key(look[pair], style) for pair in legend_order(look)]
    rows = [n * len(Cs) for n in range(len(sizes))]
    margins = Margins(left=5.6, right=2.9, top=6.0, bottom=2.8, across=0.9, down=3.0)
    figure, axes = panels(
        style, len(sizes) * len(Cs), len(Ws), WIDTH, HEIGHT, margins, keys, dict.fromkeys(rows[1:], 3.0)
    )
    usual = _usual(frame, source)
    for first, size in zip(rows, sizes, strict=True):
        page = frame[frame["step_size"].isna() if pd.isna(size) else frame["step_size"] == size]
        _page(axes[first : first + len(Cs)], page, source, look, (Cs, Ws), usual)
        _over(axes[first, 0], style, usual if pd.isna(size) else f"{titled('step_size', size)},  {usual}")
    width, height = figure.get_size_inches()
    figure.text(0.5, style.em(0.3) / height, LABEL, ha="center", va="bottom")
    figure.text(style.em(0.3) / width, 0.5, METRICS[metric].label, rotation=90, va="center", ha="left")
    banner(figure, style, counts.missing(frame, source.plan))
    return figure


def _usual(frame: pd.DataFrame, source: Source) -> str:
    """What is said once over the page; a panel that differs says so itself."""
    planned = source.plan.seeds if source.plan is not None else None
    most = int(counts.per_point(frame, source).max())
    return f"n = {most}" + (f" of {planned}" if planned is not None and most < planned else "")


def _over(ax: Axes, style: Style, text: str) -> None:
    """Over a block of panels, above the headings of its first row."""
    ax.annotate(text, (0, 1), (0, 4 + 2.7 * style.small), xycoords="axes fraction", textcoords="offset points",
                fontweight="bold", fontsize=style.font, va="bottom", annotation_clip=False, gid="title")  # fmt: skip


def _page(axes: Grid, page: pd.DataFrame, source: Source, look: dict[Pair, Look], shapes: tuple[list[int], list[int]],
          usual: str) -> None:  # fmt: skip
    style, metric, (Cs, Ws) = source.style, source.metric, shapes
    parts = {(C, W): page[(page["columns"] == C) & (page["width"] == W)] for C in Cs for W in Ws}
    tables = {shape: {pair: summary(rows_of(part, pair), metric) for pair in look} for shape, part in parts.items()}
    limits = span([table for each in tables.values() for table in each.values()], metric)
    for (C, W), part in parts.items():
        row, column = Cs.index(C), Ws.index(W)
        ax = axes[row, column]
        metric_axis(ax, metric, limits, ticks=4)
        if part.empty:
            heading(ax, style, "", "no data", warn=True)
            ax.xaxis.set_visible(False)
        else:
            axis = LateralAxis(part["lateral"], float(C - 1))
            axis.apply(ax, style, label=False, narrow=True)
            drawn = [p for p in drawing_order(look) if tables[C, W][p]["count"].sum()]
            ends = [curve(ax, style, axis, tables[C, W][pair], look[pair]) for pair in drawn]
            if column == len(Ws) - 1:
                label_ends(ax, style, [end for end in ends if end is not None])
            heading(ax, style, "", *_unusual(part, source, usual))
        if row == 0:
            _above(ax, style, f"W = {W}")
        if column == 0:
            ax.set_ylabel(f"C = {C}", labelpad=3, fontweight="bold")
        else:
            ax.tick_params(labelleft=False)


def _above(ax: Axes, style: Style, text: str) -> None:
    """The name of a column of panels, above what its first panel says."""
    ax.annotate(text, (0.5, 1), (0, 3 + 1.25 * style.small), xycoords="axes fraction", textcoords="offset points",
                fontweight="bold", ha="center", va="bottom", annotation_clip=False, gid="title")  # fmt: skip


def _unusual(part: pd.DataFrame, source: Source, usual: str) -> tuple[str, bool]:
    """What is not as in most panels, in few words."""
    numbers = counts.per_point(part, source)
    alone = _usual(part, source)
    words = [] if alone == usual and numbers.min() == numbers.max() else [f"n = {counts.spoken(numbers)}"]
    lost = part[part["diverged"]]["job"].nunique()
    words += [f"{lost:,} diverged"] if lost else []
    return ", ".join(words), bool(words)
