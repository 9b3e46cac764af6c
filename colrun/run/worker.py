"""What a worker process does around a unit: one thread, no signals from the terminal, no life after its parent."""

import os
import signal
import threading

from colrun.run.unit import Outcome, run_unit
from colrun.store.index import Watch
from colrun.store.paths import Paths
from colrun.sweep.plan import Unit

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_watches: dict[Paths, Watch] = {}
_guarded: list[int] = []


def one_thread() -> None:
    """One thread per worker. To be called before torch is imported."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"


def work(unit: Unit, paths: Paths, sweep: str, run: str, parent: int, fail_fast: bool = False) -> Outcome:
    """Run a unit in this process, which may be the main one."""
    import torch

    torch.set_num_threads(1)
    if os.getpid() != parent:
        _guard(parent)
    watch = _watches.setdefault(paths, Watch(paths))
    return run_unit(unit, paths, sweep, run, watch, fail_fast)


def _guard(parent: int) -> None:
    """Ctrl-C is the main process's to handle; and a worker whose main process was killed ends too."""
    if _guarded:
        return
    _guarded.append(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() == parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    wait = threading.Event()
    while os.getppid() == parent:
        wait.wait(1.0)
    os._exit(1)
