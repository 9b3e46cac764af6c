"""Panels of an exact size in inches, so that whatever stands beside them has its place without being measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from colrun.drawing.style import GREY, WARNING, Look, Style

Grid = NDArray[np.object_]


@dataclass(frozen=True)
class Margins:
    """Around panels and between them, in lines of text."""

    left: float = 4.2
    right: float = 2.2
    top: float = 4.4
    bottom: float = 3.0
    across: float = 2.4
    down: float = 4.6


def panels(style: Style, rows: int, columns: int, width: float, height: float, margins: Margins, keys: Sequence[Artist],
           above: Mapping[int, float] | None = None) -> tuple[Figure, Grid]:  # fmt: skip
    """A figure with `rows` x `columns` panels of `width` x `height` inches (at scale 1) and a legend of `keys`.

    `above` are further lines of room over some rows.
    """
    em, w, h = style.em(), width * style.scale, height * style.scale
    across, down = w + margins.across * em, h + margins.down * em
    total_w = (margins.left + margins.right - margins.across) * em + columns * across
    lines = _legend_lines(style, keys, total_w)
    extra = [sum(lines_over for n, lines_over in (above or {}).items() if n <= row) * em for row in range(rows)]
    top = (margins.top + LEGEND_LINE * (lines - 1)) * em
    total_h = top + (margins.bottom - margins.down) * em + rows * down + extra[-1]
    figure = Figure(figsize=(total_w, total_h))
    axes = np.empty((rows, columns), dtype=object)
    for row in range(rows):
        for column in range(columns):
            left = margins.left * em + column * across
            bottom = total_h - top - row * down - h - extra[row]
            ax = figure.add_axes((left / total_w, bottom / total_h, w / total_w, h / total_h))
            sns.despine(ax=ax)
            axes[row, column] = ax
    if keys:
        figure.legend(
            handles=list(keys), loc="upper left", bbox_to_anchor=(em * 0.2 / total_w, 1 - em * 0.1 / total_h),
            ncols=-(-len(keys) // lines), borderaxespad=0, borderpad=0.2, handlelength=HANDLE, columnspacing=SPACING,
            labelspacing=0.3,
        )  # fmt: skip
    return figure, axes


LEGEND_LINE, HANDLE, SPACING = 1.15, 2.8, 1.6


def _legend_lines(style: Style, keys: Sequence[Artist], width: float) -> int:
    """How many lines the legend takes in so many inches."""
    properties = FontProperties(family="DejaVu Sans")
    names = [TextPath((0, 0), str(key.get_label()), style.small, prop=properties).get_extents().width for key in keys]
    for lines in range(1, len(keys) + 1):
        columns = -(-len(keys) // lines)
        wide = sum(max(names[n * lines : (n + 1) * lines], default=0.0) for n in range(columns))
        if (wide + columns * (HANDLE + 0.8 + SPACING) * style.small) / 72 <= 0.97 * width:
            return lines
    return 1


def points(ax: Axes) -> tuple[float, float]:
    """Width and height of a panel in points."""
    box, size = ax.get_position(), ax.get_figure(root=True).get_size_inches()  # type: ignore[union-attr]
    return float(72 * size[0] * box.width), float(72 * size[1] * box.height)


def heading(ax: Axes, style: Style, title: str, note: str = "", warn: bool = False) -> None:
    """A title over a panel, and below it, smaller, what one must know to read it."""
    up = 2.5
    if note:
        ax.annotate(note, (0, 1), (0, up), xycoords="axes fraction", textcoords="offset points", va="bottom", ha="left",
                    fontsize=style.small, color=WARNING if warn else GREY, annotation_clip=False,
                    gid="note")  # fmt: skip
        up += 1.25 * style.small
    if title:
        ax.annotate(title, (0, 1), (0, up), xycoords="axes fraction", textcoords="offset points", fontsize=style.font,
                    fontweight="bold", va="bottom", ha="left", annotation_clip=False, gid="title")  # fmt: skip


def banner(figure: Figure, style: Style, text: str) -> None:
    """A warning over the whole figure, at the right below the legend."""
    width, height = figure.get_size_inches()
    keys = [handle for each in figure.legends for handle in each.legend_handles if handle is not None]
    under = LEGEND_LINE * _legend_lines(style, keys, width) + 0.3
    figure.text(1 - style.em(0.4) / width, 1 - style.em(under) / height, text, color=WARNING, fontweight="bold",
                fontsize=style.small, ha="right", va="top", gid="banner")  # fmt: skip


def key(look: Look, style: Style, name: str = "") -> Line2D:
    """A line of the legend."""
    return Line2D([], [], **line(look, style), label=name or look.name)  # type: ignore[arg-type]


def line(look: Look, style: Style) -> dict[str, object]:
    """A curve's look as matplotlib's options."""
    return {
        "color": look.colour,
        "linestyle": look.dash,
        "linewidth": look.width * style.line,
        "marker": look.marker or None,
        "markersize": 2.9 * style.line,
        "markerfacecolor": "white" if look.hollow else look.colour,
        "markeredgewidth": 0.6 * style.line,
    }
