"""joblib's own workers: processes on this machine."""

import os
from typing import Any

from colrun.run.guard import guard
from colrun.run.pool import Notice
from colrun.sweep.plan import Unit


def usable_cores() -> int:
    """Cores that this process may use, which may be fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


class Local:
    """So many worker processes; with one, work is in the main process."""

    deaths = 2

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._started = False

    def ready(self, notice: Notice) -> list[dict[str, Any]]:  # noqa: ARG002
        """At any time."""
        return []

    def parallel(self, alone: bool, notice: Notice) -> Any:  # noqa: ARG002
        """One of two workers stays idle for a task that is to be alone."""
        from joblib import Parallel

        self._started = True
        workers = 2 if alone else self.jobs
        if workers > 1:
            _start_trackers()
        return Parallel(
            n_jobs=workers,
            return_as="generator_unordered",
            pre_dispatch="2*n_jobs",
            batch_size=1,
            initializer=guard,
            initargs=(os.getpid(),),
        )

    def lost(self, error: Exception, flying: dict[int, Unit]) -> list[Unit] | None:
        """A worker takes the whole pool with it, so it may have been any."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        return list(flying.values()) if isinstance(error, BrokenProcessPool) else None

    def stop(self) -> None:
        """Kill them."""
        if self._started:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor().shutdown(wait=False, kill_workers=True)

    def close(self) -> None:
        """They end with this process."""


def _start_trackers() -> None:
    """Before any worker: joblib's helpers let Ctrl-C through again when they start, and workers are to inherit none."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend.resource_tracker import ensure_running

    resource_tracker.ensure_running()
    ensure_running()
