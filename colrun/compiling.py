"""Compiled kernels: loops over arrays that numba compiles on first use and keeps on disk beside their source.

Matrix products inside kernels are those of the BLAS that SciPy brings (numba's `np.dot`).
"""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numba
from numba.core import event
from numpy.typing import NDArray

Array = NDArray[Any]

# Sums may be taken in another order, which lets them use vector units. NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


SAID = "colrun compiles its kernels, once after an install: about half a minute"


class _Teller(event.Listener):
    """Says so, once in a process, when a kernel is compiled that was not kept on disk."""

    told = False

    def on_start(self, found: Any) -> None:
        module = getattr(getattr(found.data.get("dispatcher"), "py_func", None), "__module__", "")
        quiet = _Teller.told or "COLRUN_COMPILE_QUIETLY" in os.environ
        if not quiet and module.startswith("colrun."):
            _Teller.told = True
            print(SAID, file=sys.stderr, flush=True)

    def on_end(self, found: Any) -> None:
        pass


event.register("numba:compile", _Teller())  # type: ignore[no-untyped-call]


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk where a folder for that can be written."""
    return _cached(numba.njit(fastmath=FAST, error_model="numpy", nogil=True)(function))


def exact_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, every operation as it is written."""
    return _cached(numba.njit(error_model="numpy", nogil=True)(function))


def _cached(compiled: Any) -> Callable[..., Any]:
    try:
        compiled.enable_caching()
    except (RuntimeError, OSError):
        _say_uncached()
    return cast(Callable[..., Any], compiled)


@cache
def _say_uncached() -> None:
    print(
        "colrun: neither its folder nor a cache folder can be written, so every process compiles its kernels again, "
        "which takes about half a minute; NUMBA_CACHE_DIR can name a folder.",
        file=sys.stderr,
    )
