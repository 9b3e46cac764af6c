"""What the two drawings are made of: a panel in inches without axes, units, arrows and marks."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from colrun.drawing.style import BLACK, GREY, WARNING, Colour, Style

Point = tuple[float, float]
COLUMN_COLOURS: tuple[Colour, ...] = ((0.0, 0.36, 0.60), (0.80, 0.47, 0.65), (0.0, 0.50, 0.38))
TINTS: tuple[Colour, ...] = ((0.85, 0.92, 0.97), (0.97, 0.90, 0.94), (0.85, 0.95, 0.91))


def sheet(style: Style, width: float, height: float) -> tuple[Figure, Axes]:
    """A figure whose coordinates are inches at scale 1."""
    figure = Figure(figsize=(width * style.scale, height * style.scale))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.set_axis_off()
    return figure, ax


def unit(
    ax: Axes, style: Style, at: Point, colour: Colour, radius: float = 0.07, text: str = "", fill: bool = True
) -> None:
    """A circle, with a name in it."""
    ax.add_patch(Circle(at, radius, facecolor="white" if fill else colour, edgecolor=colour,
                        linewidth=1.1 * style.line, zorder=3))  # fmt: skip
    if text:
        write(ax, style, at, text, colour)


def write(ax: Axes, style: Style, at: Point, text: str, colour: Colour = BLACK, ha: str = "center", bold: bool = False,
          small: bool = False) -> None:  # fmt: skip
    ax.text(*at, text, color=colour, ha=ha, va="center", zorder=6, fontweight="bold" if bold else "normal",
            fontsize=style.small if small else style.font, gid="text")  # fmt: skip


def box(ax: Axes, style: Style, at: Point, size: Point, colour: Colour, tint: Colour) -> None:
    """A rounded frame around what belongs together."""
    ax.add_patch(FancyBboxPatch(at, *size, boxstyle="round,pad=0,rounding_size=0.08", facecolor=tint, edgecolor=colour,
                                linewidth=0.8 * style.line, zorder=0))  # fmt: skip


def arrow(ax: Axes, style: Style, start: Point, end: Point, colour: Colour = GREY, dash: object = "-",
          width: float = 0.9, bend: float = 0.0, gap: float = 5.0, head: bool = True) -> None:  # fmt: skip
    """From one unit to another; `gap` in points keeps it off them."""
    ax.add_patch(FancyArrowPatch(
        start, end, arrowstyle="-|>" if head else "-", mutation_scale=5.5 * style.line, color=colour, linestyle=dash,
        linewidth=width * style.line, connectionstyle=f"arc3,rad={bend}", shrinkA=gap * style.scale,
        shrinkB=gap * style.scale, zorder=2,
    ))  # fmt: skip


def cross(ax: Axes, style: Style, at: Point) -> None:
    """A stopped gradient."""
    ax.plot(*at, marker="X", markersize=6.4 * style.line, markerfacecolor=WARNING, markeredgecolor="white",
            markeredgewidth=0.6 * style.line, zorder=5)  # fmt: skip
