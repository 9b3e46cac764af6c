"""From a figure's name to a Figure, and from a Figure to a file whose bytes depend on nothing but its rows."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.figure import Figure

from colrun.drawing import FORMATS, FigureEntry
from colrun.drawing.source import Plan, Source
from colrun.drawing.style import STYLES
from colrun.errors import InvalidValueError, choose
from colrun.experiments import EXPERIMENTS
from colrun.figures import figures_in
from colrun.output import writing
from colrun.store.kept import Rows, where_rows
from colrun.sweep.file import Sweep
from colrun.sweep.plan import entries

if TYPE_CHECKING:
    import pandas as pd

DPI = {"paper": 300, "talk": 150}
METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "colrun"},
    "pdf": {"CreationDate": None, "Creator": "colrun", "Producer": None},
    "png": {"Software": None},
}
"""No date and no version, so that the same rows give the same bytes."""


def make(
    name: str,
    results: str | Path,
    style: str = "paper",
    metric: str | None = None,
    load: Callable[[Rows], "pd.DataFrame"] = Rows.load,
) -> tuple[Figure, list[Rows]]:
    """Draw a figure, or the sweep of that name, from stored rows; returns also where they were.

    `load` may know rows that were loaded before.
    """
    figures = figures_in(results)
    entry = figures[choose(name, figures, "figure")]
    found, frames, plans = [], {}, {}
    for sweep, experiment in entry.needs.items():
        rows = where_rows(results, sweep)
        frame = load(rows) if rows is not None else None
        if rows is None or frame is None or frame.empty:
            why = f" ({rows.beside})" if rows is not None and rows.beside else ""
            raise InvalidValueError(f"figure {name} has no data in {results}{why}; run: colrun sweep {sweep}")
        kinds = set(frame["experiment"])
        if kinds != {experiment}:
            raise InvalidValueError(
                f"figure {name} shows experiment {experiment}, but {rows.folder} holds rows of "
                f"{', '.join(sorted(kinds))}; run: colrun sweep {sweep}"
            )
        found.append(rows)
        frames[sweep], plans[sweep] = frame, plan_of(rows.planned())
    chosen = STYLES[choose(style, STYLES, "style")]
    return draw(entry, Source(frames, plans, chosen, _metric(name, entry, metric), axes_of(entry))), found


def plan_of(sweep: Sweep | None) -> Plan | None:
    """What a figure must know of a sweep to say what is missing."""
    if sweep is None:
        return None
    configs = [(entry.id, entry.seeds, max(1, len(entry.estimators))) for entry in entries(sweep)]
    return Plan(max(len(grid.seeds) for grid in sweep.grids), configs)


def axes_of(entry: FigureEntry) -> dict[str, tuple[str, ...]]:
    """By sweep of a figure, the axes of its experiment."""
    return {sweep: tuple(axis.name for axis in EXPERIMENTS[kind].axes) for sweep, kind in entry.needs.items()}


def _metric(name: str, entry: FigureEntry, metric: str | None) -> str:
    known = entry.metrics
    if metric is None:
        return known[0] if known else ""
    if metric not in known:
        can = f"it can show {', '.join(known)}" if known else "it has no choice of metric"
        raise InvalidValueError(f"figure {name} cannot show metric {metric!r}; {can}.")
    return metric


def draw(entry: FigureEntry, source: Source) -> Figure:
    """The figure's module on rows at hand."""
    with matplotlib.rc_context(source.style.rc()):
        figure: Figure = import_module(entry.module).draw(source)
    return figure


def save(figure: Figure, path: Path, style: str = "paper") -> None:
    """Write it in the format of the path's ending, with the same bytes every time."""
    form = choose(path.suffix.removeprefix("."), FORMATS, "format")
    with matplotlib.rc_context(STYLES[style].rc()), writing(path) as file:
        figure.savefig(file, format=form, dpi=DPI[style], metadata=METADATA[form])


def write(
    name: str,
    results: Path,
    style: str,
    metric: str | None,
    targets: list[Path],
    load: Callable[[Rows], "pd.DataFrame"] = Rows.load,
) -> list[str]:
    """Draw a figure into files; where its rows were, in words."""
    figure, rows = make(name, results, style, metric, load)
    for target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
        save(figure, target, style)
    return [str(each) for each in rows]
