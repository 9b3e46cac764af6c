"""What the page shows, from stored rows."""

import base64
import io
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from colrun.claims import known_claims
from colrun.claims.judge import Judged, judge, judge_plugins
from colrun.errors import InvalidValueError
from colrun.experiments import EXPERIMENTS
from colrun.figures import figures_in
from colrun.figures.make import make, save
from colrun.report.curves import explorer
from colrun.store.kept import Rows, remembering, where_rows
from colrun.store.known import stored_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE = 300_000
"""Bytes beyond which a drawing of lines is larger than a picture of it."""
DPI = 160
"""Of such a picture: twice what a screen shows of it."""


@dataclass(frozen=True)
class Drawn:
    name: str
    summary: str
    address: str
    """The picture itself, as a data address."""
    commands: tuple[str, ...]
    rows: tuple[Rows, ...]


@dataclass(frozen=True)
class SweepRows:
    """A sweep, its rows and the runs that made them."""

    rows: Rows
    frame: pd.DataFrame
    runs: tuple[dict[str, Any], ...]

    @property
    def networks(self) -> int:
        """Jobs with rows."""
        return int(self.frame["job"].nunique())

    @property
    def diverged(self) -> int:
        """Jobs with a row that diverged."""
        return int(self.frame.loc[self.frame["diverged"], "job"].nunique())


@dataclass(frozen=True)
class Content:
    claims: tuple[Judged, ...]
    """As the paper has them."""
    others: tuple[Judged, ...]
    """The same asked of plug-ins."""
    figures: tuple[Drawn, ...]
    sources: tuple[SweepRows, ...]
    explorer: dict[str, Any]


def gather(results: Path) -> Content:
    """Read each sweep once, judge, draw and summarise."""
    names = dict.fromkeys(sweep for entry in figures_in(results).values() for sweep in entry.needs)
    names |= dict.fromkeys(sweep for claim in known_claims().values() for sweep in claim.sweeps)
    found = [rows for name in names if (rows := where_rows(results, name)) is not None]
    load = remembering(None)
    sources = {rows.sweep: SweepRows(rows, load(rows), runs(rows)) for rows in found}
    frames = {name: source.frame for name, source in sources.items()}
    kind = next(kind for kind in EXPERIMENTS.values() if kind.explored)
    shown = [frame for frame in frames.values() if set(frame["experiment"]) == {kind.name}]
    return Content(
        tuple(judge(frames)), tuple(judge_plugins(frames)),
        tuple(figures(results, load)), tuple(sources.values()), explorer(shown, kind.explored),
    )  # fmt: skip


def runs(rows: Rows) -> tuple[dict[str, Any], ...]:
    """Provenance, of kept rows first and the oldest run first."""
    folders = [folder for folder in (rows.kept, rows.local) if folder is not None]
    return tuple(facts for folder in folders for _, facts in stored_runs(folder))


def figures(results: Path, load: Callable[[Rows], pd.DataFrame]) -> Iterator[Drawn]:
    """Every figure that has rows, and the drawings."""
    from matplotlib import pyplot as plt

    for name, entry in figures_in(results).items():
        try:
            figure, rows = make(name, results, load=load)
        except InvalidValueError:  # no rows
            continue
        address = picture(figure)
        plt.close(figure)
        commands = (*(f"colrun sweep {sweep}" for sweep in entry.needs), f"colrun plot {name}")
        yield Drawn(name, entry.summary, address, commands, tuple(rows))


def picture(figure: "Figure") -> str:
    """As a data address: lines where they are few, so that they stay sharp, else pixels."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        save(figure, path)
        kind, content = "image/svg+xml", path.read_bytes()
    if len(content) > LARGE:
        pixels = io.BytesIO()
        figure.savefig(pixels, format="png", dpi=DPI, metadata={"Software": None})
        kind, content = "image/png", pixels.getvalue()
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
