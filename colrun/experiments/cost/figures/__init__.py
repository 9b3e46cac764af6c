"""Figures of experiment cost. This table imports neither torch nor matplotlib."""

from colrun.drawing import FigureEntry

FIGURES = {
    "cost": FigureEntry(
        f"{__name__}.cost", "operations and memory per step, measured, with fitted and theoretical exponents",
        {"cost": "cost"}, order=150,
    )
}  # fmt: skip
