"""Compiled kernels: the credit form one network and one column after another, with all it needs in cache.

The pure torch path (networks/trajectory.py, networks/contraction.py, estimators/*.py, metrics.py) defines the numbers;
the kernels agree with it to 1e-9 in float64 and are tested so. Matrix products inside kernels are those of the BLAS
that SciPy brings (numba's `np.dot`). Compiled code is cached on disk by numba, so that only the first run after an
install or a change pays for it.

Shapes: N networks, T steps, G gates, S numbers of state, C columns, W width; P = S·C.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numba
from numpy.typing import NDArray

Array = NDArray[Any]

# Sums may be taken in another order, which lets them use vector units. NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk."""
    return cast(Callable[..., Any], numba.njit(cache=True, fastmath=FAST, error_model="numpy", nogil=True)(function))


class Laterals(NamedTuple):
    """U of N networks: own weights, and lateral ones as a list where they are few, whole otherwise."""

    own: Array
    """(N, G, C, W): U_ii, never masked"""
    listed: bool
    value: Array
    """The lateral weights that exist, by network and source column, each with its gate, target column and unit."""
    gate: Array
    to: Array
    unit: Array
    starts: Array
    """(N, C+1): where each source column's begin"""
    whole: Array
    """(N, C, G·C, W): all of U by source column, zero where masked"""
    masked: bool
    exists: Array
    """As `whole`: whether the weight exists; empty where all do"""
