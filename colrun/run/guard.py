"""What a worker process does before its first import: ignore Ctrl-C, and end when its main process has ended."""

import os
import signal
import threading
from typing import Any


def guard(parent: int) -> None:
    """Ctrl-C is the main process's to handle; a worker whose main process was killed must not live on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def dask_setup(worker: Any) -> None:  # noqa: ARG001
    """The name by which a worker of a local Dask cluster calls this; it ends with its main process by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_with(parent: int) -> None:
    wait = threading.Event()
    while os.getppid() == parent:
        wait.wait(0.5)
    os._exit(1)
