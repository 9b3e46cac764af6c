"""How every figure looks: fonts, lines, and one colour, dash and marker per estimator that differ in grey as well."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import matplotlib
import seaborn as sns
from matplotlib.colors import to_rgb

from colrun.estimators import BY_WINDOW, EstimatorEntry, described

Colour = tuple[float, float, float]

BLACK, GREY, WARNING = (0.0, 0.0, 0.0), (0.35, 0.35, 0.35), (0.70, 0.16, 0.0)
MARKERS = "os^DvPX<>hp*"
SOLID: Any = "-"
DASHED: Any = (0, (3.5, 1.6))
DOTTED: Any = (0, (1, 1.4))
DASHDOT: Any = (0, (5, 1.4, 1, 1.4))


@dataclass(frozen=True)
class Style:
    """Sizes: `font` in points, `scale` of panels, `line` of line widths."""

    name: str
    font: float
    scale: float
    line: float

    @property
    def small(self) -> float:
        """Points of what may be small: tick labels, notes, labels at curve ends. 7 is the least that prints well."""
        return self.font - 0.5

    def em(self, number: float = 1.0) -> float:
        """Lines of text in inches."""
        return number * self.font * 1.2 / 72

    def rc(self) -> Any:
        """Matplotlib's settings for drawing and saving."""
        look = dict(sns.axes_style("ticks"))
        return {
            **look,
            "font.family": ["sans-serif"],
            "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same on every machine
            "font.size": self.font,
            "axes.labelsize": self.font,
            "axes.titlesize": self.font,
            "legend.fontsize": self.small,
            "xtick.labelsize": self.small,
            "ytick.labelsize": self.small,
            "axes.linewidth": 0.6 * self.line,
            "xtick.major.width": 0.6 * self.line,
            "ytick.major.width": 0.6 * self.line,
            "xtick.minor.width": 0.4 * self.line,
            "ytick.minor.width": 0.4 * self.line,
            "xtick.major.size": 3 * self.line,
            "ytick.major.size": 3 * self.line,
            "xtick.minor.size": 1.8 * self.line,
            "ytick.minor.size": 1.8 * self.line,
            "xtick.major.pad": 2.5,
            "ytick.major.pad": 2.5,
            "legend.frameon": False,
            "svg.fonttype": "path",
            "svg.hashsalt": "colrun",
            "pdf.fonttype": 42,
        }


STYLES = {"paper": Style("paper", 7.5, 1.0, 1.0), "talk": Style("talk", 13.0, 1.5, 1.7)}


@dataclass(frozen=True)
class Look:
    colour: Colour
    dash: Any = SOLID
    marker: str = ""
    hollow: bool = False
    width: float = 1.0
    name: str = ""
    """In full, for a legend."""
    short: str = ""
    """At the curve's end."""
    order: int = 50
    """Place in the legend."""
    legend: str = ""
    """What stands for all windows in a legend, where colours go by window."""

    @property
    def main(self) -> bool:
        """Whether it is that of the method under study."""
        return self.order == 0


def window_colour(place: int, of: int) -> Colour:
    """Light to dark, so that the order shows in grey too; the palest of the colour map are left out."""
    at = 0.72 - 0.62 * (place / max(1, of - 1))
    red, green, blue, _ = matplotlib.colormaps["viridis"](at)
    return (float(red), float(green), float(blue))


DASHES = {"solid": SOLID, "dashed": DASHED, "dotted": DOTTED, "dashdot": DASHDOT}
SPARE = ("#56B4E9", "#DE8F05", "#029E73", "#CC78BC")
"""Colours for estimators that have none of their own."""


def looks(
    estimators: list[tuple[str, int | None]], others: Mapping[str, EstimatorEntry] | None = None
) -> dict[tuple[str, int | None], Look]:
    """A look for each estimator and window of a figure, as the table of estimators describes them, or `others`."""
    entries = {family: (others or {}).get(family) or described(family) for family, _ in estimators}
    windows = sorted({w for family, w in estimators if w is not None and entries[family].colour == BY_WINDOW})
    spare = itertools.cycle(SPARE)
    found: dict[tuple[str, int | None], Look] = {}
    for family, window in sorted(estimators, key=lambda pair: (pair[0], pair[1] or 0)):
        entry, number = entries[family], "" if window is None else f" {window}"
        look = Look(
            BLACK, DASHES[entry.dash], name=(entry.label or family) + number, order=entry.order, legend=entry.legend
        )
        if entry.colour == BY_WINDOW:
            place = windows.index(window) if window is not None else 0
            look = replace(
                look, colour=window_colour(place, len(windows)), marker=MARKERS[place % len(MARKERS)],
                hollow=entry.dash != "solid", short=number.strip(),
            )  # fmt: skip
        else:
            marker = "" if look.main else MARKERS[(len(found) + 5) % len(MARKERS)]
            look = replace(
                look, colour=to_rgb(entry.colour or next(spare)), marker=marker, width=2.2 if look.main else 1.3,
                short=entry.short or look.name,
            )  # fmt: skip
        found[family, window] = look
    return found
