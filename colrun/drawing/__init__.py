"""What all figures are drawn with. This module imports neither torch nor matplotlib: it says what a figure is.

style.py    fonts, lines, and how each estimator looks
layout.py   panels of an exact size, headings, legends
source.py   what a figure is drawn from
parts.py    rows → panels, and the order of curves
curves.py, lateral.py, ends.py, counts.py   curves, their axis, the labels at their ends, how many networks they show
shapes.py   what drawings without data are made of
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

STYLE_NAMES = ("paper", "talk")
FORMATS = ("png", "pdf", "svg")


@dataclass(frozen=True)
class FigureEntry:
    """A figure, as the experiment that it shows declares it."""

    module: str
    """Its function `draw` takes a `Source` and returns a Figure."""
    summary: str
    needs: Mapping[str, str] = field(default_factory=dict)
    """Sweep → experiment of the rows that it shows; nothing for a drawing."""
    metrics: tuple[str, ...] = ()
    """What it can show, the usual one first; nothing where there is no choice."""
    order: int = 1000
    """Place among all figures; those of one place stand as they were declared."""


@dataclass(frozen=True)
class Explored:
    """An axis that the report's explorer offers."""

    title: str
    usual: tuple[float, ...] = ()
    """Shown at first, where there is a choice: the first of these that there is, else the first there is."""
