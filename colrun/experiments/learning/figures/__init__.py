"""Figures of experiment learning. This table imports neither torch nor matplotlib."""

from colrun.drawing import FigureEntry

FIGURES = {
    "learning": FigureEntry(
        f"{__name__}.learning", "whether networks learn: curves, step sizes and final errors of all learners",
        {"learning": "learning"}, order=200,
    )
}  # fmt: skip
