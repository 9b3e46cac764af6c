"""Kept results: the paper's rows, small and in the repository, for who has not run a sweep yet.

    results/paper/<sweep>/<sweep>-<k>.parquet    one part or few, metrics in float32
    results/paper/<sweep>/_runs/<run>.json       provenance

Only readers look here (`colrun plot`, `claims`, `report`); a sweep never counts kept rows as done.

    python -m colrun.store.kept results results/paper [SWEEP]…      writes them
"""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from colrun.errors import InvalidValueError
from colrun.sweep.file import Sweep

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PRIVATE = ("host", "system", "command")
"""Facts of a run that say more of its machine than of its numbers."""


@dataclass(frozen=True)
class Rows:
    """Where the rows of a sweep are."""

    sweep: str
    folder: Path
    kept: bool
    """Whether they are the repository's and not of a sweep that was run here."""

    def load(self) -> "pd.DataFrame":
        """Every row once."""
        from colrun.store.load import load

        return load(self.folder)

    def planned(self) -> Sweep | None:
        """The sweep as its file has it, or as its last run had it; None if neither can be read."""
        from colrun.store.known import stored_sweep

        try:
            return stored_sweep(self.folder.parent, self.sweep, {})
        except InvalidValueError:
            return None

    def __str__(self) -> str:
        return f"{self.sweep}: rows from {self.folder}" + (" (kept results)" if self.kept else "")


def kept_folders() -> list[Path]:
    """`results/paper/` in the working folder, then that of the checkout that colrun is installed from."""
    return [Path("results/paper"), Path(__file__).parents[2] / "results" / "paper"]


def where_rows(results: str | Path, sweep: str) -> Rows | None:
    """The rows below `results`, else the kept ones, else nothing."""
    from colrun.store.load import visible_parts
    from colrun.store.paths import Paths

    for number, place in enumerate([Path(results), *kept_folders()]):
        folder = Paths.of(place, sweep).sweep
        if folder.is_dir() and visible_parts(folder):
            return Rows(sweep, folder, kept=number > 0)
    return None


def keep(results: str | Path, sweep: str, target: str | Path) -> list[Path]:
    """Write a sweep's rows as kept results, in place of those there were, and return the files."""
    from colrun.store.join import Piles
    from colrun.store.known import stored_runs
    from colrun.store.load import visible_parts
    from colrun.store.parts import encode, read_part
    from colrun.store.paths import Paths, sweep_folder

    source, folder = Paths.of(results, sweep), Paths.of(target, sweep).sweep
    pieces = list(Piles(read_part(path) for path in visible_parts(sweep_folder(source.sweep))).cut())
    runs = list(stored_runs(source.sweep))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "_runs").mkdir(parents=True)
    for path, facts in runs:
        public = {key: value for key, value in facts.items() if key not in PRIVATE}
        (folder / "_runs" / path.name).write_text(json.dumps(public, indent=1) + "\n", encoding="utf-8")
    written = []
    for number, (table, index) in enumerate(pieces, start=1):
        path = folder / f"{sweep}-{number}.parquet"
        path.write_bytes(encode(_smaller(table, index.experiment), index))
        written.append(path)
    return written


def _smaller(table: "pa.Table", kind: str) -> "pa.Table":
    """Metrics in float32: seven digits, more than any of them has. Axes stay as they are, for they are compared."""
    import pyarrow as pa

    from colrun.experiments import get_experiment

    axes = {axis.name for axis in get_experiment(kind).axes}
    for place, field in enumerate(table.schema):
        if field.type == pa.float64() and field.name not in axes:
            table = table.set_column(place, pa.field(field.name, pa.float32()), table[field.name].cast(pa.float32()))
    return table


if __name__ == "__main__":
    from colrun.store.known import stored_sweeps

    origin, goal, *names = sys.argv[1:]
    for name in names or stored_sweeps(Path(origin)):
        for file in keep(origin, name, goal):
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
