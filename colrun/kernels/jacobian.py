"""The Jacobian J(t) = ∂s(t)/∂s(t-1) of every step, column by column."""

import numpy as np

from colrun.kernels import Array, Laterals, kernel


@kernel
def direct(by_r: Array, by_s: Array, R: Array, out: Array) -> None:
    """Through R and the cell alone: out (T, P, P), by_r (T, S, G, C), by_s (T, S, S, C), R (G, C, C)."""
    T, S, G, C = by_r.shape
    for t in range(T):
        for k in range(S):
            for i in range(C):
                row = out[t, k * C + i]
                row[:] = 0.0
                for g in range(G):
                    through = by_r[t, k, g, i]
                    for j in range(C):
                        row[j] += through * R[g, i, j]
                for m in range(S):
                    row[m * C + i] += by_s[t, k, m, i]


@kernel
def tangent_of_features(z: Array, f: Array, A_h: Array, B: Array, first: Array, out: Array) -> None:
    """∂f_j(t)/∂h_j(t-1) of one column: z (T, W+1), f (T, W), A_h (W,), B (W, W); first and out (T, W)."""
    T, W = out.shape
    for t in range(T):
        for v in range(W):
            first[t, v] = A_h[v] if z[t, v] > 0.0 else 0.0
    np.dot(first, B.T, out)
    for t in range(T):
        for v in range(W):
            out[t, v] = out[t, v] if f[t, v] > 0.0 else 0.0


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
    first, tangent, through = np.empty((T, W), f.dtype), np.empty((T, W), f.dtype), np.empty((T, G * C), f.dtype)
    for n in range(N):
        direct(by_r[n], by_s[n], R[n], out[n])
        if not stateful:
            continue
        by_a_n, out_n, own = by_a[n], out[n], laterals.own[n]
        for j in range(C):
            tangent_of_features(z[n, j], f[n, j], A_h[n, j], B[n, j], first, tangent)
            if not laterals.listed:
                np.dot(tangent, laterals.whole[n, j].T, through)
                for t in range(T):
                    for k in range(S):
                        for g in range(G):
                            for i in range(C):
                                out_n[t, k * C + i, j] += by_a_n[t, k, g, i] * through[t, g * C + i]
                continue
            for t in range(T):
                for g in range(G):
                    effect = tangent[t, 0] * 0.0
                    for v in range(W):
                        effect += own[g, j, v] * tangent[t, v]
                    for k in range(S):
                        out_n[t, k * C + j, j] += by_a_n[t, k, g, j] * effect
            for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
                g, i, v, weight = laterals.gate[m], laterals.to[m], laterals.unit[m], laterals.value[m]
                for t in range(T):
                    for k in range(S):
                        out_n[t, k * C + i, j] += by_a_n[t, k, g, i] * weight * tangent[t, v]
