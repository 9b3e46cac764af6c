"""Merging: results of several machines become those of one folder, each row once, or nothing at all."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from colrun.errors import InvalidValueError, StoreError
from colrun.experiments import get_experiment
from colrun.store.compact import bring_up_to_date
from colrun.store.files import LARGEST_RECORD, is_file, is_folder, read_file, read_json
from colrun.store.generations import tidy
from colrun.store.index import Done, Watch, failures, publish, read_done, refuse_mixing, set_aside
from colrun.store.join import Piles, row_jobs
from colrun.store.known import stored_runs, stored_sweeps
from colrun.store.parts import BrokenPartError, PartIndex, encode, read_index, read_part
from colrun.store.paths import Paths, write_atomically, write_json

ROWS_AT_ONCE = 200_000
"""Parts of a source are taken together up to so many rows, and become one."""


@dataclass
class Source:
    """A sweep in one of the folders."""

    paths: Paths
    parts: list[tuple[Path, PartIndex]] = field(default_factory=list)
    broken: list[BrokenPartError] = field(default_factory=list)

    @classmethod
    def read(cls, paths: Paths) -> "Source":
        """Its parts as they are now; a compaction meanwhile is noticed when a part is gone."""
        found = cls(paths)
        if not os.path.lexists(paths.rows) and paths.parts():
            raise InvalidValueError(
                f"{paths.rows} is missing: the results were copied without their links. Copy them again with `cp -a` "
                "or `rsync -a`."
            )
        for path in paths.parts():
            try:
                index = read_index(path)
            except BrokenPartError as error:
                found.broken.append(error)
            else:
                if index.done:
                    found.parts.append((path, index))
        return found


@dataclass
class Merged:
    """What became of one sweep."""

    paths: Paths
    sources: int
    rows: int = 0
    new: int = 0
    broken: list[BrokenPartError] = field(default_factory=list)


def find_sources(folders: Iterable[Path], out: Path) -> dict[str, list[Paths]]:
    """The sweeps below each folder by name; a folder may be a results folder or that of one sweep."""
    found: dict[str, list[Paths]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InvalidValueError(f"there is no folder {folder}; give results folders of other machines.")
        real = folder.resolve()
        if is_folder(folder / "_runs"):
            names, above = [real.name], real.parent
        else:
            names, above = [name for name in stored_sweeps(folder) if is_folder(folder / name)], real
        if not names:
            raise InvalidValueError(f"{folder} holds no results of a sweep; give a results folder of another machine.")
        for name in names:
            paths = Paths.of(above, name)
            if paths.sweep != Paths.of(out, name).sweep.resolve() and paths not in found.setdefault(name, []):
                found[name].append(paths)
    found = {name: sources for name, sources in found.items() if sources}
    if not found:
        raise InvalidValueError(f"only {out} itself was given; name the folders whose results are to be joined to it.")
    return found


def merge(folders: Iterable[Path], out: Path) -> Iterator[Merged]:
    """Join them into `out`; everything is checked before anything is written."""
    plan = []
    for name, sources in sorted(find_sources(folders, out).items()):
        target = Paths.of(out, name)
        read = [Source.read(paths) for paths in sources]
        try:
            check([Source.read(target), *read])
        except FileNotFoundError as error:
            raise StoreError(f"{error.filename} has gone meanwhile; merge again when nobody writes there.") from None
        plan.append((target, read))
    for target, read in plan:
        yield _merge_one(target, read)


def check(sources: list[Source]) -> None:
    """Refuse what must not stand in one table: other experiments or versions, other numbers for the same job."""
    kinds: dict[tuple[str, int], Path] = {}
    seen, twice = Done(), set[str]()
    for source in sources:
        for path, index in source.parts:
            kinds.setdefault((index.experiment, index.numerics), path)
            twice |= _known(seen, index)
            seen.add(index)
    if len(kinds) > 1:
        (one, where), (other, there) = list(kinds.items())[:2]
        raise InvalidValueError(
            f"{where} holds rows of experiment {one[0]}, numerics version {one[1]}, and {there} of {other[0]}, version "
            f"{other[1]}; they are never mixed. Merge them into different folders."
        )
    if twice:
        _compare(sources, twice, next(iter(kinds))[0])


def _known(seen: Done, index: PartIndex) -> set[str]:
    """Jobs of a part of which some estimator is known already."""
    part, found = Done(), set()
    part.add(index)
    for config, seeds in part.jobs.items():
        before = seen.jobs.get(config)
        if before:
            found |= {f"{config}.{seed}" for seed, names in seeds.items() if names & before.get(seed, frozenset())}
    return found


def _compare(sources: list[Source], jobs: set[str], kind: str) -> None:
    """Rows of these jobs that are there more than once must be the same to the last bit."""
    frames = []
    configs = {job.partition(".")[0] for job in jobs}
    for source in sources:
        for path, index in source.parts:
            with contextlib.suppress(BrokenPartError):  # named when its turn comes
                if not configs.isdisjoint(index.done):
                    frame = read_part(path)[0].to_pandas()
                    frames.append(frame[frame["job"].isin(jobs)].assign(_source=str(source.paths.sweep)))
    if not frames:
        return
    experiment = get_experiment(kind)
    every = pd.concat(frames, ignore_index=True)
    columns = [name for name in every.columns if name not in ("_source", *experiment.times)]
    different = every.drop_duplicates(columns)
    key = ["job", *experiment.key]
    conflicts = different[different.duplicated(key, keep=False)]
    if conflicts.empty:
        return
    _, pair = next(iter(conflicts.groupby(key, dropna=False, sort=True)))
    one, other = pair.iloc[0], pair.iloc[1]
    name = next(name for name in columns if not _same(one[name], other[name]))
    which = ", ".join(f"{column} {one[column]}" for column in key if not pd.isna(one[column]))
    jobs_in_conflict = conflicts["job"].nunique()
    raise InvalidValueError(
        f"{which}: {name} is {_plain(one[name])} in {one['_source']} and {_plain(other[name])} in {other['_source']}"
        + (f", and {jobs_in_conflict - 1} further job(s) differ" if jobs_in_conflict > 1 else "")
        + "; numbers of the same job must be equal. Remove one of the two, or merge them into different folders."
    )


def _plain(value: Any) -> str:
    """Every digit of a number."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or bool(pd.isna(one) and pd.isna(other))


def _merge_one(target: Paths, sources: list[Source]) -> Merged:
    target.prepare()
    tidy(target)
    done = Merged(target, len(sources), broken=read_done(target).broken)
    set_aside(target, done.broken)
    bring_up_to_date(target)
    watch = Watch(target)
    for source in sources:
        for path, facts in stored_runs(source.paths.sweep):
            _copy_run(target, path, facts)
        for batch in _batches(source, done):
            for table, index in batch.cut():
                done.rows += table.num_rows
                done.new += _add(watch, table, index)
        done.broken += source.broken
    known = watch.refresh()
    for paths in (*(source.paths for source in sources), target):
        for job, facts in failures(paths).items():
            _settle_failure(known, target, job, facts)
    return done


def _copy_run(target: Paths, path: Path, facts: dict[str, Any]) -> None:
    """Provenance as it is; a run that was still going when it was last copied has ended since."""
    here = target.runs / path.name
    if not os.path.lexists(here) or (facts.get("finished") and is_file(here) and read_json(here) != facts):
        write_atomically(target, here, read_file(path, LARGEST_RECORD))


def _settle_failure(known: Done, target: Paths, job: str, facts: dict[str, Any]) -> None:
    """A failure counts where nobody has done the job."""
    config, _, seed = job.partition(".")
    here = target.failed / f"{job}.json"
    if known.missing(config, int(seed), tuple(facts["estimators"])) is None:
        here.unlink(missing_ok=True)
    elif not os.path.lexists(here):
        write_json(target, here, facts)


def _batches(source: Source, done: Merged) -> Iterator[Piles]:
    batch, rows = Piles(), 0
    for path, _ in source.parts:
        try:
            table, index = read_part(path)
        except BrokenPartError as error:
            done.broken.append(error)
            continue
        except FileNotFoundError:
            raise StoreError(f"{path} has gone meanwhile; merge again when nobody writes there.") from None
        batch.add(table, index)
        rows += table.num_rows
        if rows >= ROWS_AT_ONCE:
            yield batch
            batch, rows = Piles(), 0
    yield batch


def _add(watch: Watch, table: pa.Table, index: PartIndex) -> int:
    """Publish the rows that are not there yet; returns how many."""
    added = 0

    def part(known: Done) -> bytes | None:
        nonlocal added
        refuse_mixing(watch.paths, experiment, (), known)
        left = [known.missing(config, seed, (name,)) is not None for config, seed, name in jobs]
        added = sum(left)
        if not added:
            return None
        if added == table.num_rows:
            return encode(table, index)
        ((kept, described),) = Piles([(table.filter(pa.array(left)), index)]).cut()
        share = added / table.num_rows
        return encode(kept, replace(described, seconds=index.seconds * share, estimated=index.estimated * share))

    experiment = get_experiment(index.experiment)
    jobs = list(row_jobs(table, experiment.key))
    publish(watch, part)
    return added
