"""Labels at the right ends of curves, moved apart where they would overlap."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from colrun.drawing.layout import points
from colrun.drawing.style import Colour, Style


@dataclass(frozen=True)
class End:
    x: float
    y: float
    text: str
    colour: Colour
    bold: bool = False


def place(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """As near to `wanted` as can be with `gap` between neighbours, within low … high if there is room for all."""
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    groups: list[tuple[float, list[int]]] = []  # mean of what its members want less their place in it, members
    for n in order:
        start, members = wanted[n], [n]
        while groups and groups[-1][0] + gap * len(groups[-1][1]) > start:
            before, others = groups.pop()
            start = (before * len(others) + (start - gap * len(others)) * len(members)) / (len(others) + len(members))
            members = others + members
        groups.append((start, members))
    spots = [start + gap * k for start, members in groups for k in range(len(members))]
    for k in range(len(spots)):  # upwards from the lowest, then down from the highest
        spots[k] = max(spots[k], low + gap * k)
    for k in range(len(spots)):
        spots[-1 - k] = min(spots[-1 - k], high - gap * k)
    found = [0.0] * len(wanted)
    for spot, n in zip(spots, order, strict=True):
        found[n] = spot
    return found


def label_ends(ax: Axes, style: Style, ends: Sequence[End]) -> None:
    """Once scale and limits of the panel are set: they decide where labels go."""
    height = points(ax)[1]
    fraction = [float(ax.transLimits.transform(ax.transScale.transform((end.x, end.y)))[1]) for end in ends]
    gap = 1.08 * style.small
    spots = place([height * at for at in fraction], gap, 0.2 * gap, height - 0.2 * gap)
    for end, spot in zip(ends, spots, strict=True):
        ax.annotate(
            end.text, (end.x, end.y), (1, spot / height), xycoords="data", textcoords=_shifted(ax, 7.0 * style.line),
            va="center_baseline", ha="left", fontsize=style.small, color=end.colour, annotation_clip=False,
            fontweight="bold" if end.bold else "normal", gid="end",
            arrowprops={"arrowstyle": "-", "color": end.colour, "linewidth": 0.4 * style.line, "shrinkA": 0.5,
                        "shrinkB": 1.0, "relpos": (0, 0.5)},
        )  # fmt: skip


def _shifted(ax: Axes, right: float):  # type: ignore[no-untyped-def]
    """Axes coordinates moved to the right by some points."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    assert figure is not None
    return ax.transAxes + ScaledTranslation(right / 72, 0, figure.dpi_scale_trans)
