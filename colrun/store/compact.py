"""Compaction: many parts become few, and readers see either all the old or all the new, also after a crash."""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from colrun.errors import StoreError
from colrun.store.files import kind_of
from colrun.store.generations import (
    discard,
    following,
    last_number,
    numbers_in,
    part_path,
    seal_of,
    settle,
    tidy,
    wait_a_little,
)
from colrun.store.index import ATTEMPTS, read_done, set_aside
from colrun.store.join import Piles, keys_of
from colrun.store.parts import BrokenPartError, PartIndex, encode, read_part
from colrun.store.paths import Paths, claim, explained, sync_folder, unique, write_atomically


class ChangedMeanwhileError(Exception):
    """Another process compacted the same sweep."""


def bring_up_to_date(paths: Paths) -> None:
    """Give rows from before a column was there that column, before any with it are published.

    A reader such as pandas takes the columns of the first part for those of all.
    """
    _until(paths, lambda: () if read_done(paths).older else None, anew=True)


def leave_out(paths: Paths, keys: Collection[str]) -> None:
    """Set rows of other forms of these estimators aside, whoever else is at it."""
    _until(paths, lambda: read_done(paths).stale_estimators(keys) or None)


def _until(paths: Paths, without: Callable[[], Collection[str] | None], anew: bool = False) -> None:
    """Compact without certain estimators until there is no need to; other processes may do it at the same time."""
    for attempt in range(ATTEMPTS):
        if (gone := without()) is None:
            return
        with contextlib.suppress(ChangedMeanwhileError):
            compact(paths, gone, anew)
            continue
        wait_a_little(attempt)
    raise StoreError(f"cannot write below {paths.sweep}: {ATTEMPTS} times in a row another process was faster.")


def compact(
    paths: Paths,
    without: Collection[str] = (),
    anew: bool = False,
    only: Callable[[pa.Table], pa.Array] | None = None,
) -> tuple[int, int, list[BrokenPartError]]:
    """Merge all parts; returns how many there were and how many there are, and which were broken and set aside.

    Rows of the estimators `without`, which are keys, are left out and kept in the folder of stale rows; where `only`
    says which rows stay, the others are gone. A part that is the only one stays as it is, unless it is to be written
    `anew`.
    """
    paths.check_link()
    tidy(paths)
    old = settle(paths)
    last = last_number(old)
    parts = [part_path(old, number) for number in numbers_in(old)]
    if len(parts) < 2 and not without and not anew and only is None:
        return len(parts), len(parts), []
    if kind_of(target := following(old)):
        raise StoreError(f"{target} is in the place of the next generation; move it away.")
    piles, removed, broken = Piles(), Piles(), list[BrokenPartError]()
    some: tuple[pa.Table, PartIndex] | None = None
    for path in parts:
        try:
            table, index = read_part(path)
        except BrokenPartError as error:
            broken.append(error)
        except FileNotFoundError as error:
            raise ChangedMeanwhileError from error
        else:
            some = some or (table.slice(0, 0), index)
            if only is not None:
                stays = only(table)
                removed.add(table.filter(pa.compute.invert(stays)), index)
                table = table.filter(stays)
            piles.add(_without(paths, table, index, without) if without else table, index)
    if broken:
        set_aside(paths, broken)
    if some is None:
        return len(parts), 0, broken
    with explained(paths.sweep):
        candidate = unique(paths.temporary, "generation")
        candidate.mkdir()
        try:
            files = _fill(candidate, target.name, piles.cut())
        except BaseException:
            discard(paths, candidate)
            raise
        empty, index = some
        gone = [described.done for _, described in removed.cut()]
        extra = {"next": candidate.name, "without": sorted(without), "removed": gone}
        seal = encode(empty, replace(index, done={}, rows=0, extra=extra))
        while not claim(paths, part_path(old, last + 1), seal):
            last += 1
            late = part_path(old, last)  # came meanwhile: taken over as it is
            if seal_of(late) is not None or not late.exists():
                discard(paths, candidate)
                raise ChangedMeanwhileError
            files += 1
            os.link(late, part_path(candidate, files, target.name), follow_symlinks=False)
            sync_folder(candidate)
    tidy(paths)
    return len(parts), files, broken


def _without(paths: Paths, table: pa.Table, index: PartIndex, keys: Collection[str]) -> pa.Table:
    """A part without these estimators; their rows go to the folder of stale ones first."""
    gone = pa.array([key in keys for key in keys_of(table)])
    stale = table.filter(gone)
    if stale.num_rows:
        paths.stale.mkdir(parents=True, exist_ok=True)
        target = unique(paths.stale, "plugin" if stale["plugin"].null_count < stale.num_rows else "estimator")
        content = encode(stale, replace(index, rows=stale.num_rows))
        write_atomically(paths, target.with_name(f"{target.name}.parquet"), content)
    import pyarrow.compute

    return table.filter(pyarrow.compute.invert(gone))


def _fill(folder: Path, generation: str, pieces: Iterator[tuple[pa.Table, PartIndex]]) -> int:
    number = 0
    for number, (table, index) in enumerate(pieces, start=1):
        with open(part_path(folder, number, generation), "xb") as file:
            file.write(encode(table, index))
            file.flush()
            os.fsync(file.fileno())
    sync_folder(folder)
    return number
