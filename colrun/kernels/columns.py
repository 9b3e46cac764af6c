"""The gradient of one column from a credit: what every estimator shares, and where the engine spends its time.

The column is number j of its network; arrays are the network's: a (T, G·C) is the credit of U f + q.
"""

import numpy as np

from colrun.kernels import Array, Laterals, kernel


@kernel
def credit_of_features(a: Array, crosses: bool, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """Credit of the second layer's pre-activation, (T, W): through own weights, and laterals if it crosses columns."""
    T, W = out.shape
    G, C = laterals.own.shape[1], laterals.own.shape[2]
    if crosses and not laterals.listed:
        np.dot(a, laterals.whole[n, j], out)
        for t in range(T):
            for v in range(W):
                out[t, v] = out[t, v] if f[t, v] > 0.0 else 0.0
        return
    for t in range(T):
        credit = a[t, j]
        own = laterals.own[n, 0, j]
        for v in range(W):
            out[t, v] = credit * own[v] if f[t, v] > 0.0 else 0.0
        for g in range(1, G):
            credit = a[t, g * C + j]
            own = laterals.own[n, g, j]
            for v in range(W):
                out[t, v] += credit * own[v] if f[t, v] > 0.0 else 0.0
    if crosses:
        for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
            source, v, weight = laterals.gate[m] * C + laterals.to[m], laterals.unit[m], laterals.value[m]
            for t in range(T):
                if f[t, v] > 0.0:
                    out[t, v] += a[t, source] * weight


@kernel
def gradient_of_layers(
    second_credit: Array, B: Array, z: Array, seen: Array, first_credit: Array, first: Array, second: Array
) -> None:
    """Of [A, own state, b] and [B, c]: credits (T, W), z (T, W+1) and seen (T, …) with a 1 at the end for the bias."""
    T, W = second_credit.shape
    np.dot(second_credit, B, first_credit)
    for t in range(T):
        for v in range(W):
            first_credit[t, v] = first_credit[t, v] if z[t, v] > 0.0 else 0.0
    np.dot(first_credit.T, seen, first)
    np.dot(second_credit.T, z, second)


@kernel
def gradient_of_own(a: Array, j: int, C: int, f: Array, out: Array) -> None:
    """U_jj: out (G, W) = Σ_t a_j(t) f_j(t)."""
    G, W = out.shape
    for g in range(G):
        for v in range(W):
            out[g, v] = 0.0
        for t in range(a.shape[0]):
            credit = a[t, g * C + j]
            for v in range(W):
                out[g, v] += credit * f[t, v]


@kernel
def gradient_of_listed(a: Array, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """The listed U_ij of source column j: out[m] = Σ_t a_i(t) f_j(t)."""
    start, C = laterals.starts[n, j], laterals.own.shape[2]
    for m in range(start, laterals.starts[n, j + 1]):
        to, v = laterals.gate[m] * C + laterals.to[m], laterals.unit[m]
        total = f[0, 0] * 0.0
        for t in range(a.shape[0]):
            total += a[t, to] * f[t, v]
        out[m - start] = total


@kernel
def gradient_of_whole(a: Array, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """All U_ij of source column j, own weights included: out (G·C, W), zero where masked."""
    np.dot(a.T, f, out)
    if laterals.masked:
        exists = laterals.exists[n, j]
        for i in range(out.shape[0]):
            for v in range(out.shape[1]):
                out[i, v] = out[i, v] if exists[i, v] else 0.0


@kernel
def gradient_of_recurrence(r: Array, h_tm1: Array, R_exists: Array, out: Array) -> None:
    """R of one network, (G·C, C), zero where masked: r (T, G·C), h_tm1 (T, C)."""
    np.dot(r.T, h_tm1, out)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = out[i, j] if R_exists[i, j] else 0.0


@kernel
def gradient_of_bias(a: Array, out: Array) -> None:
    """q of one network, (G·C,)."""
    out[:] = 0.0
    for t in range(a.shape[0]):
        for i in range(out.size):
            out[i] += a[t, i]
