"""Compiled kernels: loops over arrays that numba compiles on first use and keeps on disk beside their source.

Matrix products inside kernels are those of the BLAS that SciPy brings (numba's `np.dot`).
"""

from collections.abc import Callable
from typing import Any, cast

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numpy.typing import NDArray

Array = NDArray[Any]

# Sums may be taken in another order, which lets them use vector units. NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


class _Cache(FunctionCache):
    """What was compiled before, loaded with the runtime alone. numba's own would import all that compiling needs, which
    takes half a second; it still does so when it compiles."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk."""
    return _cached(numba.njit(fastmath=FAST, error_model="numpy", nogil=True)(function))


def exact_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, every operation as it is written."""
    return _cached(numba.njit(error_model="numpy", nogil=True)(function))


def _cached(dispatcher: Any) -> Callable[..., Any]:
    if hasattr(dispatcher, "py_func"):  # not where NUMBA_DISABLE_JIT leaves it as it is
        dispatcher._cache = _Cache(dispatcher.py_func)  # type: ignore[no-untyped-call]
    return cast(Callable[..., Any], dispatcher)
