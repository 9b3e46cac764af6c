"""Compiled kernels: what is sequential or elementwise in the credit form, one network after another, weights in cache.

The pure torch path (networks/trajectory.py, networks/contraction.py, estimators/*.py, metrics.py) defines the numbers;
the kernels agree with it to 1e-9 in float64 and are tested so. Matrix products stay with torch. Compiled code is cached
on disk by numba, so that only the first run after an install or a change pays for it.

Shapes: N networks, T steps, G gates, S numbers of state, C columns, W width; P = S·C. A list of lateral weights is five
arrays (value, gate, to, source, unit), by network and source column; `starts` (N, C+1) says where each column begins.
"""

from collections.abc import Callable
from typing import Any, cast

import numba
from numpy.typing import NDArray

Array = NDArray[Any]
Listed = tuple[Array, Array, Array, Array, Array]

# Sums may be taken in another order, which lets them use vector units. NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk."""
    return cast(Callable[..., Any], numba.njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)(function))
