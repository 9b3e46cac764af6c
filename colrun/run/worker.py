"""What a process does around a unit, be it a worker or the main one: one thread, and an eye on what others do."""

import threading
from functools import cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from colrun.run.threads import one_thread
from colrun.run.unit import Outcome, run_unit
from colrun.store.index import Watch
from colrun.store.paths import Paths
from colrun.sweep.plan import Unit

_watches: dict[Path, Watch] = {}
_one = threading.Lock()
"""A worker of another engine may have several threads; its units take turns."""


@cache
def _ready() -> None:
    """Before the first unit of a process, which need not have inherited anything from the main one."""
    one_thread()
    threadpool_limits(1)  # of libraries that counted their threads before


def work(unit: Unit, paths: Paths, sweep: str, run: str, fail_fast: bool = False) -> Outcome:
    """Run a unit in this process, which may be the main one."""
    with _one:
        _ready()
        watch = _watches.setdefault(paths.sweep.absolute(), Watch(paths))
        return run_unit(unit, paths, sweep, run, watch, fail_fast)
