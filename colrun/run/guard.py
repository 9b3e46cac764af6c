"""What a worker process does before its first import: ignore Ctrl-C, and end when its main process has ended."""

import os
import signal
import sys
import threading
from typing import Any


def guard(parent: int) -> None:
    """Ctrl-C is the main process's to handle; a worker whose main process was killed must not live on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _let_memory_grow()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _let_memory_grow() -> None:
    """joblib ends a worker that has 300 MB more than after its first task, and warns of a leak.

    Ours keep freed memory on purpose (`threads.keep_memory`), so that one grows with its largest unit and no further.
    """
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize


def dask_setup(worker: Any) -> None:  # noqa: ARG001
    """The name by which a worker of a local Dask cluster calls this; it ends with its main process by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_with(parent: int) -> None:
    wait = threading.Event()
    while os.getppid() == parent:
        wait.wait(0.5)
    os._exit(1)
