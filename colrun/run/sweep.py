"""Running a sweep: find what is missing, run it, keep account."""

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError
from colrun.run.apart import Limits, end_all
from colrun.run.local import usable_cores
from colrun.run.login import login_node_warning
from colrun.run.pool import Place, Pool, run_units
from colrun.run.progress import Progress
from colrun.run.signals import StoppedError, check_stopped
from colrun.store import strays
from colrun.store.bits import other_bits
from colrun.store.compact import bring_up_to_date, leave_out
from colrun.store.generations import tidy
from colrun.store.index import Done, failure_of, failures, read_done, refuse_mixing, set_aside, set_stale_aside
from colrun.store.paths import Paths
from colrun.store.provenance import Run
from colrun.sweep.file import Sweep
from colrun.sweep.plan import Entry, Missing, Piece, Skipped, Unit, entries, units
from colrun.sweep.shard import Shard

Failures = Mapping[str, Mapping[str, Any]]
"""Failed jobs by id, with what is known of them."""


@dataclass
class Count:
    """Where a sweep stands."""

    total: int = 0
    done: int = 0
    failed: list[str] = field(default_factory=list)
    missing: int = 0
    seconds: float = 0.0
    """Estimated work of what is missing, on one core."""
    all_seconds: float = 0.0
    rows: int = 0
    """Results: one per job and estimator."""
    rows_left: int = 0
    """Of these, what is to be run."""
    rows_done: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def results(self) -> str:
        """How many results are there, in words, where some jobs lack only some of their estimators."""
        partly = self.missing and self.rows_left * self.total != self.missing * self.rows
        return f" ({self.rows_done:,} of {self.rows:,} results)" if partly and self.rows_done else ""


def count(sweep: Sweep, done: Done, failed: Failures, shard: Shard | None = None) -> Count:
    """Go through the plan, or a shard's part of it, without running anything."""
    found, skipped = Count(), Skipped()
    missing = not_failed(done, failed)
    planned: Iterable[Entry | Piece] = entries(sweep, skipped)
    if shard:
        planned = (piece for unit in units(sweep, shard=shard, skipped=skipped) for piece in unit.pieces)
    for entry in planned:
        number, each = len(entry.seeds), max(1, len(entry.estimators))
        work = cache(partial(sweep.experiment.seconds, entry.config))
        found.total += number
        found.all_seconds += work(entry.estimators) * number
        found.rows += number * each
        if not failed and (not done.jobs or entry.id not in done.jobs):
            found.missing += number
            found.rows_left += number * each
            found.seconds += work(entry.estimators) * number
            continue
        for seed in entry.seeds:
            undone = done.missing(entry.id, seed, entry.estimators)
            left = missing(entry.id, seed, entry.estimators)
            found.rows_done += each - (0 if undone is None else max(1, len(undone)))
            if undone is None:
                found.done += 1
            elif left is None:
                found.failed.append(f"{entry.id}.{seed}")
            else:
                found.missing += 1
                found.rows_left += max(1, len(left))
                found.seconds += work(left)
    found.skipped = skipped.reasons
    return found


def not_failed(done: Done, failed: Failures) -> Missing:
    """What is missing, estimators that failed aside; a job of which nothing else is missing has failed."""

    def missing(config: str, seed: int, estimators: tuple[str, ...]) -> tuple[str, ...] | None:
        left = done.missing(config, seed, estimators)
        facts = failed.get(f"{config}.{seed}")
        if left is None or facts is None:
            return left
        return tuple(name for name in left if name not in facts.get("estimators", left)) or None

    return missing if failed else done.missing


@dataclass(frozen=True)
class Options:
    """How to run."""

    shard: Shard | None = None
    retry_failed: bool = False
    fail_fast: bool = False
    recompute_stale: bool = False
    quiet: bool = False
    verbose: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass
class Result:
    """How it went."""

    count: Count
    computed: int = 0
    twice: int = 0
    failed: list[str] = field(default_factory=list)
    diverged: int = 0


def open_store(paths: Paths, sweep: Sweep, recompute_stale: bool, say: Progress) -> Done:
    """Make the folder ready, set aside what is broken, and refuse to mix numerics versions."""
    paths.prepare()
    tidy(paths)
    done = read_done(paths, verify=True)
    if done.broken:
        set_aside(paths, done.broken)
        for error in done.broken:
            say.say(f"broken part, set aside in {paths.broken}, its jobs run again: {error}")
    if others := strays.named(paths):
        say.say(f"{sweep.name}: {others}")
    stale, estimators = done.stale(sweep.experiment), done.stale_estimators(sweep.keys)
    if not ((stale or estimators) and recompute_stale):
        refuse_mixing(paths, sweep.experiment, sweep.keys, done)
    if stale:
        versions = ", ".join(map(str, sorted(stale)))
        number = set_stale_aside(paths, sweep.experiment)
        say.say(f"{number} part(s) of numerics version {versions} set aside in {paths.stale}")
        done = read_done(paths)
    if estimators:
        leave_out(paths, sweep.keys)
        say.say(f"rows of {', '.join(estimators)} set aside in {paths.stale}")
        done = read_done(paths)
    refuse_mixing(paths, sweep.experiment, sweep.keys, done)
    return done


def run_sweep(sweep: Sweep, paths: Paths, pool: Pool, options: Options) -> Result:
    """Run what is missing of a sweep, or of a shard of it."""
    skipped = Skipped()
    if next(iter(entries(sweep, skipped)), None) is None:
        reasons = "; ".join(skipped.reasons)
        raise InvalidValueError(f"sweep {sweep.name} has no job, as all of its grid is skipped: {reasons}.")
    talk = Progress(sweep.name, 0, options.quiet)
    done = open_store(paths, sweep, options.recompute_stale, talk)
    where = count(sweep, done, failures(paths), options.shard)
    if options.retry_failed and where.failed:
        for job in where.failed:  # those of this grid: others keep their record
            (paths.failed / f"{job}.json").unlink(missing_ok=True)
        where = count(sweep, done, failures(paths), options.shard)
    for reason, times in where.skipped.items():
        talk.say(f"{sweep.name}: skipped: {reason} ({times} point(s) of the grid)")
    result = Result(where, failed=list(where.failed))
    if where.missing == 0:
        return result
    if warning := login_node_warning(where.seconds):
        talk.say(warning)
    if done.older:
        bring_up_to_date(paths)
    if other := other_bits(paths):
        talk.say(f"{sweep.name}: {other}")
    run = Run(paths, sweep, pool.ready(talk.say))
    place = Place(
        paths.absolute(), sweep.name, run.id, sweep.experiment.numerics, options.fail_fast, limits=options.limits
    )

    def todo() -> Iterator[Unit]:
        return units(sweep, not_failed(read_done(paths), failures(paths)), options.shard)

    with Progress(sweep.name, where.missing, options.quiet) as progress:
        progress.begin(sweep.experiment.by_kernels)
        try:
            for outcome in run_units(todo, place, pool, progress.say):
                check_stopped()
                progress.add(outcome)
                result.computed += outcome.jobs - outcome.elsewhere - len(outcome.failed)
                result.twice += outcome.twice
                result.diverged += outcome.diverged
                result.failed += outcome.failed
                for job in outcome.failed:
                    why = (failure_of(paths, job) or {}).get("error", "")
                    progress.say(
                        f"{sweep.name}: job {job} failed: {' '.join(str(why).split())}; more by: "
                        f"{shown_by(job, paths.sweep.parent)}"
                    )
                if options.verbose:
                    progress.say(f"{sweep.name}: unit of {outcome.jobs} job(s) in {outcome.seconds:.2f} s of CPU time")
                if outcome.failed and options.fail_fast:
                    pool.stop()
                    break
        except StoppedError:
            with suppress(Exception):  # it may have come while joblib was being imported
                pool.stop()
            run.finish(stopped=True, computed=result.computed, twice=result.twice)
            raise
        except BaseException:
            pool.stop()
            raise
        finally:
            end_all()
    run.finish(computed=result.computed, twice=result.twice, failed=len(result.failed), diverged=result.diverged)
    return result


def shown_by(job: str, results: Path) -> str:
    """The command that shows a job."""
    return shlex.join(["colrun", "show", job, *([] if results == Path("results") else ["--results", str(results)])])


def warn_about_cores(jobs: int) -> None:
    """Say so when more workers are asked for than cores may be used."""
    usable = usable_cores()
    if jobs > usable:
        print(
            f"warning: -j {jobs}, but this process may use {usable} core(s) (CPU affinity); workers will share them",
            file=sys.stderr,
        )
