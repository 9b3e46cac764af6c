"""What a worker process does before its first import: ignore Ctrl-C, and end when its main process has ended."""

import os
import signal
import threading


def guard(parent: int) -> None:
    """Ctrl-C is the main process's to handle; a worker whose main process was killed must not live on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    wait = threading.Event()
    while os.getppid() == parent:
        wait.wait(0.5)
    os._exit(1)
