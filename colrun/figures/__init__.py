"""Figures: one file per kind, a DataFrame in, a Figure out. This table imports neither torch nor matplotlib."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from colrun.errors import choose

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureEntry:
    """A figure by the name of the sweep it shows."""

    module: str
    summary: str
    experiment: str = "alignment"
    """Whose rows it shows."""


FIGURES = {
    "rnn-alignment": FigureEntry("alignment", "alignment against lateral ratio, additive recurrent network"),
    "demo": FigureEntry("alignment", "the same for the demo sweep"),
}


def get_figure(name: str) -> "Callable[[pd.DataFrame], Figure]":
    """The function `draw` of a figure's module."""
    entry = FIGURES[choose(name, FIGURES, "figure")]
    draw: Callable[[pd.DataFrame], Figure] = import_module(f"colrun.figures.{entry.module}").draw
    return draw
