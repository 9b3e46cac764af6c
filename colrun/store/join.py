"""Rows of many parts become those of few: each once, in one order, with an index of what is there."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from colrun.estimators import EstimatorName
from colrun.experiments import declare, get_experiment
from colrun.store.parts import PartIndex
from colrun.sweep.seeds import Seeds

ORIGIN = tuple(column.name for column in declare.ORIGIN)
COMPACT = "compact:"
"""Before the names of runs, where a part holds rows of several."""
ROWS_PER_FILE = 4_000_000
TOGETHER = 1000
"""Parts whose rows are put into one piece of memory at a time: a piece for each would take ten times as much."""


@dataclass
class Joined:
    """Tables one below the other."""

    pieces: list[pa.Table] = field(default_factory=list)
    small: list[pa.Table] = field(default_factory=list)

    def add(self, table: pa.Table) -> None:
        """One more."""
        self.small.append(table)
        if len(self.small) >= TOGETHER:
            self.pieces.append(_below(self.small).combine_chunks())
            self.small = []

    def table(self) -> pa.Table:
        """All of them; without any, a table without columns."""
        return _below([*self.pieces, *self.small]) if self.pieces or self.small else pa.table({})


def _below(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables, promote_options="default")


def in_order(table: pa.Table, kinds: set[str]) -> pa.Table:
    """Sorted by parameters, seed and what tells the rows of a job apart; a row that two parts hold counts once."""
    (kind,) = kinds if len(kinds) == 1 else (None,)
    if kind is None:
        return table
    experiment = get_experiment(kind)
    key = list(experiment.key)
    key += [name for name in (*ORIGIN, "sweep") if name in table.column_names]
    order = [*(axis.name for axis in experiment.axes), "seed", *key]
    table = table.sort_by([(name, "ascending") for name in ["numerics", *order]])
    import pandas  # noqa: F401  (see parts.py)

    same = table.select(["job", *key]).to_pandas().duplicated()
    return table.filter(pa.array(~same.to_numpy())) if same.any() else table


@dataclass
class Pile:
    """Parts of one experiment and numerics version."""

    first: PartIndex
    rows: Joined = field(default_factory=Joined)
    runs: set[str] = field(default_factory=set)
    seconds: float = 0.0
    estimated: float = 0.0

    def add(self, table: pa.Table, index: PartIndex) -> None:
        """One more."""
        self.rows.add(table)
        self.runs.update(index.run.removeprefix(COMPACT).split(","))
        self.seconds += index.seconds
        self.estimated += index.estimated

    def cut(self) -> Iterator[tuple[pa.Table, PartIndex]]:
        """In order, in files of bounded size, each with the index of what it holds."""
        kind = self.first.experiment
        table = in_order(self.rows.table(), {kind})
        run = COMPACT + ",".join(sorted(self.runs))
        index = replace(self.first, run=run, seconds=self.seconds, estimated=self.estimated)
        key = get_experiment(kind).key
        for start in range(0, table.num_rows, ROWS_PER_FILE):
            piece = table.slice(start, ROWS_PER_FILE)
            yield piece, replace(index, rows=piece.num_rows, done=_done(piece, key), diverged=_diverged(piece))
            index = replace(index, seconds=0.0, estimated=0.0)  # counted once


class Piles:
    """Parts of any kind."""

    def __init__(self, parts: Iterable[tuple[pa.Table, PartIndex]] = ()) -> None:
        self._piles: dict[tuple[str, int], Pile] = {}
        for table, index in parts:
            self.add(table, index)

    def add(self, table: pa.Table, index: PartIndex) -> None:
        """One more; what has no rows, such as a seal, leaves no trace."""
        if table.num_rows:
            self._piles.setdefault((index.experiment, index.numerics), Pile(index)).add(table, index)

    def cut(self) -> Iterator[tuple[pa.Table, PartIndex]]:
        """The same rows in as few parts as can be: one per experiment and version, unless it would be too large."""
        for _, pile in sorted(self._piles.items()):
            yield from pile.cut()


def keys_of(table: pa.Table) -> list[str]:
    """The estimator of every row, as the index of a part names it."""
    rows = zip(*(table[name].to_pylist() for name in ("estimator", "window", *ORIGIN)), strict=True)
    return [EstimatorName(family, window, plugin, numerics or 1).key for family, window, plugin, numerics in rows]


def row_jobs(table: pa.Table, key: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Of every row its config, seed and estimator ("" where an experiment takes none)."""
    names: Iterable[str] = keys_of(table) if "estimator" in key else itertools.repeat("", table.num_rows)
    for job, name in zip(table["job"].to_pylist(), names, strict=True):
        config, _, seed = job.partition(".")
        yield config, int(seed), name


def _done(table: pa.Table, key: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """config → estimators → seeds, from the rows themselves."""
    jobs: dict[str, dict[int, list[str]]] = {}
    for config, seed, name in row_jobs(table, key):
        jobs.setdefault(config, {}).setdefault(seed, []).append(name)
    return {config: group(seeds) for config, seeds in jobs.items()}


def group(seeds: dict[int, list[str]]) -> dict[str, str]:
    """estimators → seeds, of one config."""
    groups: dict[str, list[int]] = {}
    for seed, names in seeds.items():
        groups.setdefault(",".join(sorted(set(names))), []).append(seed)
    return {names: str(Seeds.of(numbers)) for names, numbers in groups.items()}


def _diverged(table: pa.Table) -> int:
    flags = zip(table["job"].to_pylist(), table["diverged"].to_pylist(), strict=True)
    return len({job for job, flag in flags if flag})
