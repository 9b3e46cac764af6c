"""Compiled kernels: loops over arrays that numba compiles on first use and keeps on disk beside their source.

Matrix products inside kernels are those of the BLAS that SciPy brings (numba's `np.dot`).
"""

from collections.abc import Callable
from typing import Any, cast

import numba
from numpy.typing import NDArray

Array = NDArray[Any]

# Sums may be taken in another order, which lets them use vector units. NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk."""
    return cast(Callable[..., Any], numba.njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)(function))


def exact_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, every operation as it is written."""
    return cast(Callable[..., Any], numba.njit(cache=True, error_model="numpy", nogil=True)(function))
