"""Kept results: the paper's rows, small and in the repository, for who has not run a sweep yet.

    results/paper/<sweep>/<sweep>-<k>.parquet    one part or few, metrics in float32
    results/paper/<sweep>/_runs/<run>.json       provenance

Only readers look here (`colrun plot`, `table`, `claims`, `report`), for what was not run; a sweep never counts kept
rows as done.

    python -m colrun.store.kept results results/paper [SWEEP]…      writes them
"""

import json
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from colrun.errors import InvalidValueError
from colrun.sweep.file import Sweep, brought

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PRIVATE = ("host", "system", "command", "sweep_path")
"""Facts of a run that say more of its machine than of its numbers."""


LOCAL, KEPT = "local", "kept"
"""Where a row is from, in the column `source` of what readers get."""


@dataclass(frozen=True)
class Rows:
    """Where the rows of a sweep are: of a sweep that was run here, and of the repository, which complement them."""

    sweep: str
    local: Path | None
    kept: Path | None
    counts: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """After loading: how many of each, and how many `others`, which are not of the sweep's present grid."""

    @property
    def folder(self) -> Path:
        """The first of them."""
        found = self.local or self.kept
        assert found is not None
        return found

    def load(self) -> "pd.DataFrame":
        """Every row of the sweep's present grid once, a local one before a kept one."""
        from colrun.store.view import view

        frame, others = view(self)
        found = frame["source"].value_counts().to_dict() if len(frame) else {}
        self.counts.update({LOCAL: found.get(LOCAL, 0), KEPT: found.get(KEPT, 0), "others": others})
        return frame

    def planned(self) -> Sweep | None:
        """The sweep as its file has it, or as its last run had it; None if neither can be read."""
        from colrun.store.known import stored_sweep

        try:
            return stored_sweep(self.folder.parent, self.sweep, {})
        except InvalidValueError:
            return None

    def __str__(self) -> str:
        places = {LOCAL: str(self.local), KEPT: f"{self.kept} (kept results)"}
        used = [name for name, place in ((LOCAL, self.local), (KEPT, self.kept)) if place is not None]
        shown = [name for name in used if self.counts.get(name)] or used[:1]
        rows = [f"{self.counts[name]:,} rows" if self.counts else "rows" for name in shown]
        found = " and ".join(f"{some} from {places[name]}" for some, name in zip(rows, shown, strict=True))
        return f"{self.sweep}: {found}" + (self.beside and f"; {self.beside}")

    @property
    def beside(self) -> str:
        """What there is that was not taken."""
        others = self.counts.get("others", 0)
        return f"{others:,} other rows there are not of its present grid" if others else ""


def remembering(most: int | None) -> "Callable[[Rows], pd.DataFrame]":
    """Loads rows, those of the last few sweeps once."""

    @lru_cache(maxsize=most)
    def remembered(rows: Rows) -> "tuple[pd.DataFrame, dict[str, int]]":
        return rows.load(), rows.counts

    def load(rows: Rows) -> "pd.DataFrame":
        frame, counts = remembered(rows)
        rows.counts.update(counts)
        return frame

    return load


def kept_folders() -> list[Path]:
    """`results/paper/` in the working folder, then what colrun brings."""
    return [Path("results/paper"), brought("paper", "results/paper")]


def where_rows(results: str | Path, sweep: str) -> Rows | None:
    """The rows below `results` and the kept ones; None where there are neither."""
    from colrun.store.load import visible_parts
    from colrun.store.paths import Paths

    def folder(place: Path) -> Path | None:
        found = Paths.of(place, sweep).sweep
        return found if found.is_dir() and visible_parts(found) else None

    local, kept = folder(Path(results)), next(filter(None, map(folder, kept_folders())), None)
    if local is not None and kept is not None and local.resolve() == kept.resolve():
        kept = None
    return Rows(sweep, local, kept) if local or kept else None


def stored_kind(results: str | Path, sweep: str) -> str | None:
    """The experiment of a sweep's rows, by its first part; None where there are none, or of no known experiment."""
    from colrun.experiments import EXPERIMENTS
    from colrun.store.load import visible_parts
    from colrun.store.parts import BrokenPartError, read_index

    found = where_rows(results, sweep)
    for part in visible_parts(found.folder) if found is not None else ():
        with suppress(BrokenPartError, FileNotFoundError):
            kind = read_index(part).experiment
            return kind if kind in EXPERIMENTS else None
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
    for place, column in enumerate(table.schema):
        if column.type == pa.float64() and column.name not in axes:
            smaller = table[column.name].cast(pa.float32())
            table = table.set_column(place, pa.field(column.name, pa.float32()), smaller)
    return table


if __name__ == "__main__":
    from colrun.store.known import stored_sweeps

    origin, goal, *names = sys.argv[1:]
    for name in names or stored_sweeps(Path(origin)):
        for file in keep(origin, name, goal):
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
