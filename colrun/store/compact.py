"""Compaction: many parts become few, and readers see either all the old or all the new, also after a crash."""

import itertools
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from colrun.estimators import EstimatorName
from colrun.experiments import get_experiment
from colrun.store.generations import current, discard, last_number, part_path, successor, tidy
from colrun.store.index import Done, set_aside
from colrun.store.load import in_order
from colrun.store.parts import BrokenPartError, PartIndex, encode, read_part
from colrun.store.paths import Paths, claim, explained, sync_folder, unique, write_atomically
from colrun.sweep.seeds import Seeds

ROWS_PER_FILE = 4_000_000


class ChangedMeanwhileError(Exception):
    """Another process compacted the same sweep."""


def compact(paths: Paths, without: Collection[str] = ()) -> tuple[int, int, list[BrokenPartError]]:
    """Merge all parts; returns how many there were and how many there are, and which were broken and set aside.

    Rows of the estimators `without`, which are keys, are left out and kept in the folder of stale rows.
    """
    tidy(paths)
    old = current(paths)
    last = last_number(old)
    parts = [path for number in range(1, last + 1) if (path := part_path(old, number)).exists()]
    if len(parts) < 2 and not without:
        return len(parts), len(parts), []
    tables, indices = [], []
    broken: list[BrokenPartError] = []
    for path in parts:
        try:
            table, index = read_part(path)
        except BrokenPartError as error:
            broken.append(error)
        except FileNotFoundError as error:
            raise ChangedMeanwhileError from error
        else:
            tables.append(table)
            indices.append(index)
    if broken:
        set_aside(paths, broken)
    if not tables:
        return len(parts), 0, broken
    some = tables[0], indices[0]
    if without:
        tables, indices = _split(paths, tables, indices, without)
    with explained(paths.sweep):
        candidate = unique(paths.temporary, "generation")
        candidate.mkdir()
        generation = f"{int(old.name) + 1:06d}"
        try:
            files = _fill(candidate, generation, merged(tables, indices))
        except BaseException:
            discard(paths, candidate)
            raise
        seal = encode(some[0].slice(0, 0), replace(some[1], done={}, rows=0, extra={"next": candidate.name}))
        while not claim(paths, part_path(old, last + 1), seal):
            last += 1
            late = part_path(old, last)  # came meanwhile: taken over as it is
            if successor(late) is not None or not late.exists():
                discard(paths, candidate)
                raise ChangedMeanwhileError
            files += 1
            os.link(late, part_path(candidate, files, generation))
            sync_folder(candidate)
    tidy(paths)
    return len(parts), files, broken


def _split(
    paths: Paths, tables: list[pa.Table], indices: list[PartIndex], without: Collection[str]
) -> tuple[list[pa.Table], list[PartIndex]]:
    """The parts without these estimators; their rows go to the folder of stale ones first."""
    left: list[tuple[pa.Table, PartIndex]] = []
    for number, (table, index) in enumerate(zip(tables, indices, strict=True)):
        keys = keys_of(table)
        stale, rest = (table.filter(pa.array([(key in without) == gone for key in keys])) for gone in (True, False))
        if stale.num_rows:
            paths.stale.mkdir(parents=True, exist_ok=True)
            target = unique(paths.stale, f"plugin-{number}")
            write_atomically(
                paths, target.with_name(f"{target.name}.parquet"), encode(stale, replace(index, rows=stale.num_rows))
            )
        if rest.num_rows:
            left.append((rest, replace(index, rows=rest.num_rows)))
    return [table for table, _ in left], [index for _, index in left]


def keys_of(table: pa.Table) -> list[str]:
    """The estimator of every row, as the index of a part names it."""
    plugins = table["plugin"].to_pylist() if "plugin" in table.column_names else [None] * table.num_rows
    rows = zip(table["estimator"].to_pylist(), table["window"].to_pylist(), plugins, strict=True)
    return [EstimatorName(*row).key for row in rows]


def _fill(folder: Path, generation: str, pieces: Iterator[tuple[pa.Table, PartIndex]]) -> int:
    number = 0
    for number, (table, index) in enumerate(pieces, start=1):
        with open(part_path(folder, number, generation), "xb") as file:
            file.write(encode(table, index))
            file.flush()
            os.fsync(file.fileno())
    sync_folder(folder)
    return number


def merged(tables: list[pa.Table], indices: list[PartIndex]) -> Iterator[tuple[pa.Table, PartIndex]]:
    """One table per experiment and version, in files of bounded size, each with the index of what it holds."""
    for kind, numerics in sorted({(index.experiment, index.numerics) for index in indices}):
        chosen = [n for n, index in enumerate(indices) if (index.experiment, index.numerics) == (kind, numerics)]
        table = in_order(pa.concat_tables([tables[n] for n in chosen], promote_options="default"), {kind})
        whole = Done()
        for n in chosen:
            whole.add(indices[n])
        index = replace(
            indices[chosen[0]],
            run="compact:" + ",".join(sorted({run for n in chosen for run in _runs(indices[n])})),
            seconds=whole.seconds,
            estimated=whole.estimated,
        )
        key_columns = get_experiment(kind).runner().KEY
        for start in _cuts(table):
            piece = table.slice(start, ROWS_PER_FILE)
            yield piece, replace(index, rows=piece.num_rows, done=_done(piece, key_columns), diverged=_diverged(piece))
            index = replace(index, seconds=0.0, estimated=0.0)  # counted once


def _cuts(table: pa.Table) -> range:
    return range(0, table.num_rows, ROWS_PER_FILE)


def _runs(index: PartIndex) -> list[str]:
    return index.run.removeprefix("compact:").split(",")


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
