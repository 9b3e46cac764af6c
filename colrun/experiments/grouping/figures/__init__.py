"""Figures of experiment grouping. This table imports neither torch nor matplotlib."""

from colrun.drawing import FigureEntry
from colrun.experiments.alignment.figures import METRICS

FIGURES = {
    "grouping": FigureEntry(
        f"{__name__}.grouping", "Master-User with columns against random groups of weights, also in a dense RNN",
        {"grouping": "grouping"}, METRICS, order=130,
    )
}  # fmt: skip
