"""Figures made from stored rows. Each is declared by the experiment that it shows."""

from colrun.drawing import FigureEntry
from colrun.experiments import EXPERIMENTS
from colrun.experiments.across.figures import FIGURES as ACROSS


def known_figures() -> dict[str, FigureEntry]:
    """Those of every experiment and those that span several, in their order. Imports no matplotlib."""
    tables = [*(experiment.figures for experiment in EXPERIMENTS.values()), ACROSS]
    every = {name: entry for table in tables for name, entry in table.items()}
    return dict(sorted(every.items(), key=lambda pair: pair[1].order))
