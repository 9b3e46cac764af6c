"""What a process does around a unit, be it a worker or the main one: one thread, and an eye on what others do."""

import ctypes
import os
import threading
from functools import cache
from pathlib import Path

from colrun.run.unit import Outcome, run_unit
from colrun.store.index import Watch
from colrun.store.paths import Paths
from colrun.sweep.plan import Unit

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_watches: dict[Path, Watch] = {}
_one = threading.Lock()
"""A worker of another engine may have several threads; its units take turns."""


def one_thread() -> None:
    """One thread per worker. To be called before torch is imported."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    keep_memory()


def keep_memory() -> None:
    """Let freed memory be used again: giving it back and asking for it anew costs a third of the engine's time."""
    mmap_threshold, trim_threshold, most = -3, -1, 1 << 30  # glibc's mallopt; elsewhere nothing happens
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(mmap_threshold, most)
    mallopt(trim_threshold, most)


@cache
def _ready() -> None:
    """Before the first unit of a process, which need not have inherited anything from the main one."""
    one_thread()
    import torch

    torch.set_num_threads(1)


def work(unit: Unit, paths: Paths, sweep: str, run: str, fail_fast: bool = False) -> Outcome:
    """Run a unit in this process, which may be the main one."""
    with _one:
        _ready()
        watch = _watches.setdefault(paths.sweep.absolute(), Watch(paths))
        return run_unit(unit, paths, sweep, run, watch, fail_fast)
