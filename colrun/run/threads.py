"""One thread per process. Imports nothing that could start one: libraries count their threads when they are loaded."""

import ctypes
import os

VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def one_thread() -> None:
    """For this process and those it starts. To be called before torch, NumPy or SciPy is imported."""
    for name in VARIABLES:
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
