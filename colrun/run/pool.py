"""Units in, outcomes out as they complete, whatever happens to a worker: the same for every pool of joblib."""

import os
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from colrun.errors import StoreError
from colrun.estimators import ESTIMATORS, parse_estimator
from colrun.estimators.plugins import files_in_use, use_files
from colrun.experiments import EXPERIMENTS
from colrun.run.apart import Limits, use_limits
from colrun.run.signals import held
from colrun.run.threads import one_thread
from colrun.run.unit import Outcome, record_failure
from colrun.run.worker import work
from colrun.store.paths import Paths
from colrun.sweep.plan import Unit

SHUFFLE = 256
SEEN_SECONDS = 10.0
"""So long a network filesystem may take to show a worker what the main process wrote."""
_seen: set[str] = set()

Notice = Callable[[str], None]


class BackendError(Exception):
    """The workers cannot be used or reached: not the fault of a job, so the sweep stops."""


@dataclass(frozen=True)
class Place:
    """Where units are run, for which run of which sweep."""

    paths: Paths
    sweep: str
    run: str
    numerics: int
    fail_fast: bool = False
    plugins: tuple[str, ...] = field(default_factory=files_in_use)
    """A worker is another process: it is told of the plug-ins."""
    limits: Limits = field(default_factory=Limits)

    def check(self, unit: Unit) -> None:
        """In a worker, which may be on another machine: it must see the same folder and compute the same numbers."""
        experiment = unit.experiment
        for key in {key for piece in unit.pieces for key in piece.estimators}:
            here = parse_estimator(key.partition("@")[0])
            if here.source is None and here.key != key:
                raise BackendError(
                    f"the colrun of {_here()} computes {here.key}, and this one {key}; install the same version of "
                    "colrun for all workers."
                )
        if self.run in _seen:
            return
        own = EXPERIMENTS[experiment].numerics
        if own != self.numerics:
            raise BackendError(
                f"the colrun of {_here()} computes numerics version {own} of {experiment}, and this one "
                f"{self.numerics}; install the same version of colrun for all workers."
            )
        limit = time.monotonic() + SEEN_SECONDS
        while not (self.paths.runs / f"{self.run}.json").exists():
            if time.monotonic() > limit:
                raise BackendError(
                    f"{_here()} does not see the results folder {self.paths.sweep}; all workers need it under the same "
                    "path, on a shared filesystem. Without one use `colrun sweep --shard` and `colrun merge`."
                )
            time.sleep(0.2)
        _seen.add(self.run)


def _here() -> str:
    return f"the worker process {os.getpid()} on {socket.gethostname()}"


@dataclass(frozen=True)
class Task:
    """A unit to be run in a worker. It takes no arguments, as joblib's Dask backend stores those on a single worker."""

    place: Place
    number: int
    unit: Unit

    @property
    def __name__(self) -> str:
        """As engines show it, and as Dask names it when workers die of it."""
        return f"unit-{self.number}"

    def __call__(self) -> tuple[int, Outcome]:
        """Run it."""
        use_files(map(Path, self.place.plugins), ESTIMATORS)
        use_limits(self.place.limits)
        self.place.check(self.unit)
        place = self.place
        return self.number, work(self.unit, place.paths, place.sweep, place.run, place.fail_fast)


class Pool(Protocol):
    """Worker processes, wherever they are."""

    deaths: int
    """So many losses may have been those of a neighbour before a unit, and then its job, is suspected."""

    def ready(self, notice: Notice) -> list[dict[str, Any]]:
        """Wait until there are workers that fit; what machines they are on, for provenance, if not on this one."""

    def parallel(self, alone: bool, notice: Notice) -> Any:
        """A `joblib.Parallel` that gives results as they come; `alone`: for one task, never in the main process."""

    def lost(self, error: Exception, flying: dict[int, Unit]) -> list[Unit] | None:
        """If this says that a worker died: which units it may have died of."""

    def stop(self) -> None:
        """End all work now; what workers of this machine were doing is not published."""

    def close(self) -> None:
        """When there is nothing more to run."""


def run_units(todo: Callable[[], Iterable[Unit]], place: Place, pool: Pool, notice: Notice) -> Iterator[Outcome]:
    """Outcomes as they come. `todo` gives what is missing now; it is asked until there is nothing."""
    one_thread()
    deaths: Counter[Unit] = Counter()
    """How many worker processes died while a unit was in flight."""
    while next(iter(todo()), None) is not None:
        for unit in [unit for unit, times in deaths.items() if times >= pool.deaths]:
            del deaths[unit]
            yield from _isolated(unit, place, pool, notice)
        flying: dict[int, Unit] = {}

        def tasks(flying: dict[int, Unit] = flying) -> Iterator[Task]:
            for number, unit in enumerate(shuffled(todo())):
                flying[number] = unit
                yield Task(place, number, unit)

        progressed = False
        try:
            for number, outcome in _results(pool, tasks(), False, notice):
                del flying[number]
                progressed = progressed or outcome.jobs > outcome.elsewhere
                yield outcome
        except Exception as error:
            suspects = pool.lost(error, flying)
            if suspects is None:
                raise
            notice("a worker process died; what it was doing runs again")
            deaths.update(suspects)
        else:
            if not progressed and next(iter(todo()), None) is not None:
                raise StoreError(
                    f"parts have disappeared from {place.paths.rows} meanwhile; run the same command again."
                )


def _results(pool: Pool, tasks: Iterator[Task], alone: bool, notice: Notice) -> Iterator[tuple[int, Outcome]]:
    from joblib import delayed

    parallel = pool.parallel(alone, notice)
    with held():
        found: Iterable[tuple[int, Outcome]] = parallel(delayed(task)() for task in tasks)
    yield from found


def _isolated(unit: Unit, place: Place, pool: Pool, notice: Notice) -> Iterator[Outcome]:
    """Alone, then in ever smaller pieces: the job that kills its worker is found and recorded as failed."""
    for _ in range(pool.deaths if unit.jobs == 1 else 1):
        try:
            for _, outcome in _results(pool, iter([Task(place, 0, unit)]), True, notice):
                yield outcome
            return
        except Exception as error:
            if pool.lost(error, {0: unit}) is None:
                raise
    if unit.jobs > 1:
        for half in unit.halves():
            yield from _isolated(half, place, pool, notice)
        return
    (piece,) = unit.pieces
    message = "the worker process died (out of memory, or killed by a signal)"
    record_failure(place.paths, EXPERIMENTS[unit.experiment], piece, piece.seeds[0], message, place.run)
    yield Outcome(jobs=1, failed=[f"{piece.id}.{piece.seeds[0]}"])


def shuffled(units: Iterable[Unit]) -> Iterator[Unit]:
    """In a random order within a window, so that two processes on one sweep rarely take the same unit at once."""
    source = random.Random()
    window: list[Unit] = []
    for unit in units:
        window.append(unit)
        if len(window) >= SHUFFLE:
            yield window.pop(source.randrange(len(window)))
    source.shuffle(window)
    yield from window
