"""From a figure's name to a Figure, and from a Figure to a file whose bytes depend on nothing but its rows."""

from importlib import import_module
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from colrun.errors import InvalidValueError, choose
from colrun.figures import FIGURES, FORMATS
from colrun.figures.source import Source
from colrun.figures.style import STYLES
from colrun.output import writing
from colrun.store.kept import Rows, where_rows

DPI = {"paper": 300, "talk": 150}
METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "colrun"},
    "pdf": {"CreationDate": None, "Creator": "colrun", "Producer": None},
    "png": {"Software": None},
}
"""No date and no version, so that the same rows give the same bytes."""


def make(name: str, results: str | Path, style: str = "paper", metric: str | None = None) -> tuple[Figure, list[Rows]]:
    """Draw a figure from stored rows; returns also where they were."""
    entry = FIGURES[choose(name, FIGURES, "figure")]
    found, frames, plans = [], {}, {}
    for sweep, experiment in entry.needs.items():
        rows = where_rows(results, sweep)
        frame = rows.load() if rows is not None else None
        if rows is None or frame is None or frame.empty:
            raise InvalidValueError(f"figure {name} has no data in {results}; run: colrun sweep {sweep}")
        kinds = set(frame["experiment"])
        if kinds != {experiment}:
            raise InvalidValueError(
                f"figure {name} shows experiment {experiment}, but {rows.folder} holds rows of "
                f"{', '.join(sorted(kinds))}; run: colrun sweep {sweep}"
            )
        found.append(rows)
        frames[sweep], plans[sweep] = frame, rows.planned()
    return draw(name, Source(frames, plans, STYLES[choose(style, STYLES, "style")], _metric(name, metric))), found


def _metric(name: str, metric: str | None) -> str:
    known = FIGURES[name].metrics
    if metric is None:
        return known[0] if known else ""
    if metric not in known:
        can = f"it can show {', '.join(known)}" if known else "it has no choice of metric"
        raise InvalidValueError(f"figure {name} cannot show metric {metric!r}; {can}.")
    return metric


def draw(name: str, source: Source) -> Figure:
    """The figure's module on rows at hand."""
    with matplotlib.rc_context(source.style.rc()):
        figure: Figure = import_module(f"colrun.figures.{FIGURES[name].module}").draw(source)
    return figure


def save(figure: Figure, path: Path, style: str = "paper") -> None:
    """Write it in the format of the path's ending, with the same bytes every time."""
    form = choose(path.suffix.removeprefix("."), FORMATS, "format")
    with matplotlib.rc_context(STYLES[style].rc()), writing(path) as file:
        figure.savefig(file, format=form, dpi=DPI[style], metadata=METADATA[form])
