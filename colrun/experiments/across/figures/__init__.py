"""Figures that no one experiment owns. This table imports neither torch nor matplotlib."""

from colrun.drawing import FigureEntry

FIGURES = {
    "tradeoff": FigureEntry(
        f"{__name__}.tradeoff", "alignment against operations and memory per step, all estimators",
        {"estimators": "alignment", "cost": "cost"}, ("alignment", "cosine", "norm_ratio"), order=160,
    ),
    "columns": FigureEntry(
        f"{__name__}.columns", "drawing: a columnar network of three columns with lateral connections", order=170
    ),
    "stop-gradient": FigureEntry(
        f"{__name__}.stop_gradient", "drawing: where random groups and columns stop the gradient", order=180
    ),
}  # fmt: skip
