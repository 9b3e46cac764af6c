"""The Jacobian J(t) = ∂s(t)/∂s(t-1) of every step, column by column."""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.laterals import Laterals


@kernel
def direct(by_r: Array, by_s: Array, R: Array, out: Array) -> None:
    """Through R and the cell alone: out (T, P, P), by_r (T, S, G, C), by_s (T, S, S, C), R (G, C, C)."""
    T, S, G, C = by_r.shape
    for t in range(T):
        for k in range(S):
            for i in range(C):
                p, through = k * C + i, by_r[t, k, 0, i]
                for j in range(C):
                    out[t, p, j] = through * R[0, i, j]
                for g in range(1, G):
                    through = by_r[t, k, g, i]
                    for j in range(C):
                        out[t, p, j] += through * R[g, i, j]
                for j in range(C, S * C):
                    out[t, p, j] = 0.0
                for m in range(S):
                    out[t, p, m * C + i] += by_s[t, k, m, i]


@kernel
def tangent_of_features(z: Array, f: Array, A_h: Array, B: Array, awake: Array, both: Array, out: Array) -> None:
    """∂f_j(t)/∂h_j(t-1) of one column: z (T, W+1), f (T, W), A_h (W,), B (W, W); out (T, W).

    Loops run over all units of all steps at once, as those of one narrow column are few. Room to work in: `awake`
    (T, W+1) for which units of the first layer are active, `both` (W+1, W) for what passes through one that is.
    """
    W = A_h.size
    for v in range(W):
        for u in range(W):
            both[v, u] = A_h[v] * B[u, v]
    both[W] = 0.0
    flat_z, flat_awake, flat_f, flat_out = z.reshape(-1), awake.reshape(-1), f.reshape(-1), out.reshape(-1)
    for k in range(flat_z.size):
        flat_awake[k] = 1.0 if flat_z[k] > 0.0 else 0.0
    np.dot(awake, both, out)
    for k in range(flat_f.size):
        flat_out[k] = flat_out[k] if flat_f[k] > 0.0 else 0.0


@kernel
def jacobian(
    by_a: Array, by_r: Array, by_s: Array, R: Array, stateful: bool, laterals: Laterals,
    z: Array, f: Array, A_h: Array, B: Array, out: Array,
) -> None:  # fmt: skip
    """J(t): out (N, T, P, P). by_a, by_r (N, T, S, G, C), by_s (N, T, S, S, C), R (N, G, C, C).

    h_j(t-1) enters all columns by R and, where columns are `stateful`, its own column as one scalar: one tangent per
    column and one product with U give the rest.
    """
    N, T, S, G, C = by_a.shape
    W = f.shape[3]
    tangent, through, effect = np.empty((T, W), f.dtype), np.empty((T, G * C), f.dtype), np.empty(T, f.dtype)
    awake, both = np.empty((T, W + 1), f.dtype), np.empty((W + 1, W), f.dtype)
    for n in range(N):
        direct(by_r[n], by_s[n], R[n], out[n])
        if not stateful:
            continue
        by_a_n, out_n, own = by_a[n], out[n], laterals.own[n]
        for j in range(C):
            tangent_of_features(z[n, j], f[n, j], A_h[n, j], B[n, j], awake, both, tangent)
            if not laterals.listed:
                np.dot(tangent, laterals.whole[n, j].T, through)
                for t in range(T):
                    for k in range(S):
                        for g in range(G):
                            for i in range(C):
                                out_n[t, k * C + i, j] += by_a_n[t, k, g, i] * through[t, g * C + i]
                continue
            for g in range(G):
                np.dot(tangent, own[g, j], effect)
                for t in range(T):
                    for k in range(S):
                        out_n[t, k * C + j, j] += by_a_n[t, k, g, j] * effect[t]
            for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
                g, i, v, weight = laterals.gate[m], laterals.to[m], laterals.unit[m], laterals.value[m]
                for t in range(T):
                    for k in range(S):
                        out_n[t, k * C + i, j] += by_a_n[t, k, g, i] * weight * tangent[t, v]
