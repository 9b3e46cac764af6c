"""Figures made from stored rows. Each is declared by the experiment that it shows."""

from dataclasses import replace
from pathlib import Path

from colrun.drawing import FigureEntry
from colrun.experiments import EXPERIMENTS
from colrun.experiments.across.figures import FIGURES as ACROSS


def known_figures() -> dict[str, FigureEntry]:
    """Those of every experiment and those that span several, in their order. Imports no matplotlib."""
    tables = [*(experiment.figures for experiment in EXPERIMENTS.values()), ACROSS]
    every = {name: entry for table in tables for name, entry in table.items()}
    return dict(sorted(every.items(), key=lambda pair: pair[1].order))


def figures_in(results: str | Path) -> dict[str, FigureEntry]:
    """The known ones and, of every other sweep with rows, the first figure of its experiment."""
    from colrun.store.kept import stored_kind
    from colrun.store.known import stored_sweeps

    figures = known_figures()
    taken = {sweep for entry in figures.values() for sweep in entry.needs}
    own = {}
    for sweep in stored_sweeps(Path(results)):
        kind = None if sweep in taken else stored_kind(results, sweep)
        first = next(iter(EXPERIMENTS[kind].figures.values()), None) if kind is not None else None
        if kind is not None and first is not None:
            own[sweep] = replace(first, summary=f"sweep {sweep}, experiment {kind}", needs={sweep: kind})
    return figures | own
