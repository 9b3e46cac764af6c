"""joblib on this machine: units in, outcomes out as they complete, whatever happens to a worker."""

import contextlib
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from colrun.estimators import ESTIMATORS
from colrun.estimators.plugins import files_in_use, use_files
from colrun.experiments import EXPERIMENTS
from colrun.run.guard import guard
from colrun.run.unit import Outcome, record_failure
from colrun.run.worker import one_thread, work
from colrun.store.paths import Paths, StoreError
from colrun.sweep.plan import Unit

SHUFFLE = 256
DEATHS = 2
"""So often a worker may die of something else before its unit, and then its job, is suspected."""


def usable_cores() -> int:
    """Cores that this process may use, which may be fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


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


@dataclass(frozen=True)
class Place:
    """Where units are run, for which run of which sweep."""

    paths: Paths
    sweep: str
    run: str
    fail_fast: bool = False
    plugins: tuple[str, ...] = field(default_factory=files_in_use)
    """A worker is another process: it is told of the plug-ins."""

    def work(self, number: int, unit: Unit) -> tuple[int, Outcome]:
        """Run a unit; called in a worker."""
        use_files(map(Path, self.plugins), ESTIMATORS)
        return number, work(unit, self.paths, self.sweep, self.run, self.fail_fast)


def run_local(
    todo: Callable[[], Iterable[Unit]],
    paths: Paths,
    sweep: str,
    run: str,
    jobs: int,
    notice: Callable[[str], None],
    fail_fast: bool = False,
) -> Iterator[Outcome]:
    """Outcomes as they come. `todo` gives what is missing now; it is asked until there is nothing."""
    one_thread()
    from joblib import delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    place = Place(paths, sweep, run, fail_fast)
    deaths: Counter[Unit] = Counter()
    """How many worker processes died while a unit was in flight."""
    while next(iter(todo()), None) is not None:
        for unit in [unit for unit, times in deaths.items() if times >= DEATHS]:
            del deaths[unit]
            yield from _isolated(unit, place)
        flying: dict[int, Unit] = {}

        def calls(flying: dict[int, Unit] = flying) -> Iterator[object]:
            for number, unit in enumerate(shuffled(todo())):
                flying[number] = unit
                yield delayed(place.work)(number, unit)

        progressed = False
        try:
            for number, outcome in _pool(jobs)(calls()):
                del flying[number]
                progressed = progressed or outcome.jobs > outcome.elsewhere
                yield outcome
        except BrokenProcessPool:
            notice("a worker process died; what it was doing runs again")
            deaths.update(flying.values())
        else:
            if not progressed and next(iter(todo()), None) is not None:
                raise StoreError(f"parts have disappeared from {paths.rows} meanwhile; run the same command again.")


def _pool(jobs: int) -> Callable[[Iterable[object]], Iterable[tuple[int, Outcome]]]:
    from joblib import Parallel

    pool: Callable[[Iterable[object]], Iterable[tuple[int, Outcome]]] = Parallel(
        n_jobs=jobs,
        return_as="generator_unordered",
        pre_dispatch="2*n_jobs",
        batch_size=1,
        initializer=guard,
        initargs=(os.getpid(),),
    )
    return pool


def _isolated(unit: Unit, place: Place) -> Iterator[Outcome]:
    """Alone, then in ever smaller pieces: the job that kills its worker is found and recorded as failed."""
    from joblib import delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    for _ in range(DEATHS if unit.jobs == 1 else 1):
        with contextlib.suppress(BrokenProcessPool):
            for _, outcome in _pool(2)([delayed(place.work)(0, unit)]):
                yield outcome
            return
    if unit.jobs > 1:
        for half in unit.halves():
            yield from _isolated(half, place)
        return
    (piece,) = unit.pieces
    message = "the worker process died (out of memory, or killed by a signal)"
    record_failure(place.paths, EXPERIMENTS[unit.experiment], piece, piece.seeds[0], message, place.run)
    yield Outcome(jobs=1, failed=[f"{piece.id}.{piece.seeds[0]}"])


def stop_workers() -> None:
    """End all workers of this process now; what they were doing is not published."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=False, kill_workers=True)
