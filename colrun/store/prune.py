"""Removing rows that are not of a sweep's present grid."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from colrun.store.compact import compact
from colrun.store.index import failures
from colrun.store.known import describe
from colrun.store.load import load_table
from colrun.store.paths import Paths, sweep_folder
from colrun.store.present import Present, named


@dataclass(frozen=True)
class Others:
    """What is not of the grid, and how many rows are."""

    paths: Paths
    grid: Present
    rows: int
    stay: int
    failed: tuple[str, ...]
    """Jobs that failed and are not of the grid."""

    def remove(self) -> None:
        """Whoever reads meanwhile sees all rows, or those that stay."""
        if self.rows:
            compact(self.paths, only=lambda table: pa.array(self.grid.holds(named(table))))
        for job in self.failed:
            (self.paths.failed / f"{job}.json").unlink(missing_ok=True)


def others(results: Path, name: str, sweep: str) -> Others:
    """Of the sweep `name` in a results folder; `sweep` is that name, or its file."""
    paths = Paths.of(results, name)
    table = named(load_table(sweep_folder(paths.sweep)))
    grid = Present.of(describe(results, sweep))
    stay = int(grid.holds(table).sum()) if table.num_rows else 0
    failed = tuple(job for job in failures(paths) if not grid.has(job))
    return Others(paths, grid, table.num_rows - stay, stay, failed)
