"""joblib on this machine: units in, outcomes out as they complete, whatever happens to a worker."""

import os
import random
from collections.abc import Callable, Iterable, Iterator

from colrun.experiments import EXPERIMENTS
from colrun.run.unit import Outcome, record_failure
from colrun.run.worker import one_thread, work
from colrun.store.paths import Paths
from colrun.sweep.plan import Piece, Unit

SHUFFLE = 256


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


def run_local(
    todo: Callable[[], Iterable[Unit]],
    paths: Paths,
    sweep: str,
    run: str,
    jobs: int,
    notice: Callable[[str], None],
    fail_fast: bool = False,
) -> Iterator[Outcome]:
    """Outcomes as they come. `todo` gives what is missing now; it is asked again when a worker has died."""
    one_thread()
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    parent = os.getpid()
    while True:
        calls = (delayed(work)(unit, paths, sweep, run, parent, fail_fast) for unit in shuffled(todo()))
        progressed = False
        try:
            pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
            for outcome in pool(calls):
                progressed = True
                yield outcome
            return
        except BrokenProcessPool:
            notice("a worker process died; what it was doing runs again")
            if not progressed:
                yield from _isolated(todo(), paths, sweep, run, parent)


def _isolated(units: Iterable[Unit], paths: Paths, sweep: str, run: str, parent: int) -> Iterator[Outcome]:
    """Job by job in a process of its own: the one that kills its worker is found and recorded as failed."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    for unit in units:
        for piece in unit.pieces:
            for seed in piece.seeds:
                single = Piece(piece.config, piece.id, piece.estimators, (seed,))
                call = delayed(work)(Unit(unit.experiment, (single,)), paths, sweep, run, parent)
                try:
                    yield from Parallel(n_jobs=2, return_as="generator_unordered")([call])
                except BrokenProcessPool:
                    message = "the worker process died (out of memory, or killed by a signal)"
                    record_failure(paths, EXPERIMENTS[unit.experiment], piece, seed, message, run)
                    yield Outcome(jobs=1, failed=[f"{piece.id}.{seed}"])


def stop_workers() -> None:
    """End all workers of this process now; what they were doing is not published."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=False, kill_workers=True)
