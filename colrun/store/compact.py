"""Compaction: many parts become few, and readers see either all the old or all the new, also after a crash."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from colrun.experiments import get_experiment
from colrun.store.index import Done, set_aside
from colrun.store.load import in_order
from colrun.store.parts import BrokenPartError, PartIndex, encode, read_index, read_part
from colrun.store.paths import Paths, explained, switch_link, sync_folder
from colrun.sweep.seeds import Seeds

ROWS_PER_FILE = 4_000_000


class ChangedMeanwhileError(Exception):
    """Another process compacted the same sweep."""


def compact(paths: Paths, say: Callable[[str], None] = lambda _: None) -> tuple[int, int]:
    """Merge all parts; returns how many there were and how many there are. `say` is told of broken ones."""
    tidy(paths)
    current = paths.rows.resolve()
    parts = paths.parts()
    if len(parts) < 2:
        return len(parts), len(parts)
    tables, indices, broken = [], [], []
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
        for each in broken:
            say(f"broken part, set aside in {paths.broken}; `colrun sweep` computes its jobs again: {each}")
    if not tables:
        return len(parts), 0
    with explained(paths.sweep):
        generation = _next_generation(paths)
        for number, (table, index) in enumerate(_merged(tables, indices)):
            target = generation / f"compact-{number:04d}.parquet"
            with open(target, "xb") as file:
                file.write(encode(table, index))
                file.flush()
                os.fsync(file.fileno())
        sync_folder(generation)
        if paths.rows.resolve() != current:
            shutil.rmtree(generation, ignore_errors=True)
            raise ChangedMeanwhileError
        switch_link(paths, generation)
        tidy(paths)
    return len(parts), len(paths.parts())


def _merged(tables: list[pa.Table], indices: list[PartIndex]) -> Iterator[tuple[pa.Table, PartIndex]]:
    """One table per experiment and version, in files of bounded size, each with the index of what it holds."""
    for kind, numerics in sorted({(index.experiment, index.numerics) for index in indices}):
        chosen = [n for n, index in enumerate(indices) if (index.experiment, index.numerics) == (kind, numerics)]
        table = in_order(pa.concat_tables([tables[n] for n in chosen]), {kind})
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


def _done(table: pa.Table, key: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """config → estimators → seeds, from the rows themselves."""
    jobs: dict[str, dict[int, list[str]]] = {}
    names: list[str]
    if "estimator" in key:
        windows = table["window"].to_pylist()
        names = [f if w is None else f"{f}-{w}" for f, w in zip(table["estimator"].to_pylist(), windows, strict=True)]
    else:
        names = [""] * table.num_rows
    for job, name in zip(table["job"].to_pylist(), names, strict=True):
        config, _, seed = job.partition(".")
        jobs.setdefault(config, {}).setdefault(int(seed), []).append(name)
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


def _next_generation(paths: Paths) -> Path:
    numbers = [int(m[1]) for p in paths.generations.iterdir() if (m := re.match(r"([0-9]+)", p.name))]
    path = paths.generations / f"{max(numbers, default=0) + 1:06d}-{secrets.token_hex(2)}"
    path.mkdir()
    return path


def tidy(paths: Paths) -> None:
    """Finish what a killed compaction began: take over parts that came late, remove generations no longer used.

    A part published into the old generation while its successor was being built is not in it yet; it is moved over
    here. Safe to run at any time by any process.
    """
    if not paths.rows.is_symlink():
        return
    current = paths.rows.resolve()
    for generation in sorted(paths.generations.iterdir()):
        if generation.resolve() == current or not _older(generation, current):
            continue
        known = _held(current)
        for path in sorted(generation.glob("*.parquet")):
            with contextlib.suppress(FileNotFoundError, BrokenPartError):
                if not _covered(read_index(path), known):
                    os.replace(path, current / path.name)
                else:
                    path.unlink()
        for path in generation.glob("compact-*"):  # half-written by a compaction that was killed
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # a part arrived this moment: the next time finds it
            generation.rmdir()


def _older(generation: Path, current: Path) -> bool:
    """A newer generation is one that another process is building."""
    return generation.name[:6] < current.name[:6]


def _held(generation: Path) -> Done:
    done = Done()
    for path in generation.glob("*.parquet"):
        with contextlib.suppress(BrokenPartError, FileNotFoundError):
            done.add(read_index(path))
    return done


def _covered(index: PartIndex, known: Done) -> bool:
    for config, groups in index.done.items():
        for joined, text in groups.items():
            names = tuple(joined.split(","))
            if any(known.missing(config, seed, names) is not None for seed in Seeds.parse(text)):
                return False
    return True
