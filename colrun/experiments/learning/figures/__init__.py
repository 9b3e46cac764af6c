"""Figures of experiment learning. This table imports neither torch nor matplotlib."""

from colrun.drawing import FigureEntry

FIGURES: dict[str, FigureEntry] = {}
