"""Inner products of what weights multiply, step against step: with them, norms of θ-sized sums need no θ-sized vector.

A layer's local gradient at step t is (credit of its pre-activations) x (its input), so the inner product of two of them
is (credit · credit)(input · input). The second factor is here; it depends on the run alone.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.laterals import Laterals

if TYPE_CHECKING:
    from colrun.engine.run import Run


class Grams(NamedTuple):
    """input(t) · input(t') of every matrix or row of weights, its bias counted as an input of 1; T x T each."""

    first: Array
    """(N, C, T, T): A_i, b_i"""
    second: Array
    """(N, C, T, T): B_i, c_i"""
    a: Array
    """(N, G·C, T, T): the row U_i of a gate, over the weights that exist, and q_i if there is one"""
    r: Array
    """(N, G·C, T, T): the row R_i of a gate, over the weights that exist"""


def input_grams(run: "Run") -> Grams:
    """All of them."""
    batch, dtype = run.batch, run.f.dtype
    x, h_tm1 = batch.layers.x, run.h_tm1
    N, C, T, _ = run.f.shape
    G = run.a.shape[2]
    first = np.empty((N, C, T, T), dtype)
    first[:] = (x @ x.swapaxes(1, 2) + 1)[:, None]
    if run.stateful:
        own = h_tm1.swapaxes(1, 2)
        first += own[..., None] * own[..., None, :]
    a = np.empty((N, G * C, T, T), dtype)
    of_features(run.f, run.laterals, float(batch.architecture.switches.state_bias), a)
    seen = h_tm1[:, None] * batch.R_exists.reshape(N, G * C, 1, C)
    return Grams(first, run.z @ run.z.swapaxes(-1, -2), a, seen @ h_tm1.swapaxes(1, 2)[:, None])


@kernel
def of_features(f: Array, laterals: Laterals, bias: float, out: Array) -> None:
    """Of the rows of U, (N, G·C, T, T): f (N, C, T, W). `bias` is 1 where there is a q."""
    N, C, T, W = f.shape
    GC = out.shape[1]
    feature, flat, seen = np.empty(T, f.dtype), np.empty((T, C * W), f.dtype), np.empty((T, C * W), f.dtype)
    for n in range(N):
        if laterals.listed:
            for j in range(C):
                np.dot(f[n, j], f[n, j].T, out[n, j])
                for row in range(j + C, GC, C):
                    out[n, row] = out[n, j]
            for j in range(C):
                for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
                    row, unit = laterals.gate[m] * C + laterals.to[m], laterals.unit[m]
                    for t in range(T):
                        feature[t] = f[n, j, t, unit]
                    for t in range(T):
                        for u in range(T):
                            out[n, row, t, u] += feature[t] * feature[u]
        else:
            for j in range(C):
                for t in range(T):
                    for v in range(W):
                        flat[t, j * W + v] = f[n, j, t, v]
            for row in range(GC if laterals.masked else 1):
                if laterals.masked:
                    for j in range(C):
                        for t in range(T):
                            for v in range(W):
                                seen[t, j * W + v] = f[n, j, t, v] if laterals.exists[n, j, row, v] else 0.0
                    np.dot(seen, flat.T, out[n, row])
                else:
                    np.dot(flat, flat.T, out[n, 0])
            if not laterals.masked:
                for row in range(1, GC):
                    out[n, row] = out[n, 0]
        for row in range(GC):
            for t in range(T):
                for u in range(T):
                    out[n, row, t, u] += bias
