"""Compiled kernels: loops over arrays that numba compiles on first use and keeps on disk beside their source.

Matrix products inside kernels are those of the BLAS that SciPy brings (numba's `np.dot`).
"""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numba
from numpy.typing import NDArray

Array = NDArray[Any]

# Sums may be taken in another order, which lets them use vector units. NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


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
