"""The gradient of one column from a credit: what every estimator shares, and where the engine spends its time.

The column is number j of network n; a (G·C, T) is the credit of the network's U f + q. Steps come last wherever a loop
runs over them, so that narrow columns use the vector units as well as wide ones.
"""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.laterals import Laterals


@kernel
def turn(given: Array, out: Array) -> None:
    """(T, W) as (W, T); `given` may have more columns."""
    for v in range(out.shape[0]):
        for t in range(out.shape[1]):
            out[v, t] = given[t, v]


@kernel
def credit_of_gates(states: Array, partials: Array, out: Array) -> None:
    """Credit of what enters the gates, out (G·C, T), from that of the states (T, S·C) and the partials (T, S, G, C)."""
    T, S, G, C = partials.shape
    for g in range(G):
        for i in range(C):
            for t in range(T):
                total = states[t, i] * partials[t, 0, g, i]
                for k in range(1, S):
                    total += states[t, k * C + i] * partials[t, k, g, i]
                out[g * C + i, t] = total


@kernel
def credit_of_features(a: Array, crosses: bool, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """Credit of the second layer's pre-activation, (W, T): through own weights, and laterals if it crosses columns."""
    W, T = out.shape
    G, C = laterals.own.shape[1], laterals.own.shape[2]
    if crosses and not laterals.listed:
        np.dot(laterals.whole[n, j].T, a, out)
        for v in range(W):
            for t in range(T):
                out[v, t] = out[v, t] if f[v, t] > 0.0 else 0.0
        return
    for v in range(W):
        weight = laterals.own[n, 0, j, v]
        for t in range(T):
            out[v, t] = a[j, t] * weight if f[v, t] > 0.0 else 0.0
        for g in range(1, G):
            weight = laterals.own[n, g, j, v]
            for t in range(T):
                out[v, t] += a[g * C + j, t] * weight if f[v, t] > 0.0 else 0.0
    if crosses:
        for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
            to, v, weight = laterals.gate[m] * C + laterals.to[m], laterals.unit[m], laterals.value[m]
            for t in range(T):
                out[v, t] += a[to, t] * weight if f[v, t] > 0.0 else 0.0


@kernel
def mask(credit: Array, unit: Array, count: int) -> None:
    """Nothing passes a unit that is silent: the first `count` credits, and the units they go to."""
    for k in range(count):
        credit[k] = credit[k] if unit[k] > 0.0 else 0.0


@kernel
def gradient_of_own(a: Array, j: int, C: int, f: Array, out: Array) -> None:
    """U_jj: out (G, W) = Σ_t a_j(t) f_j(t); f (W, T)."""
    for g in range(out.shape[0]):
        for v in range(out.shape[1]):
            total = f[0, 0] * 0.0
            for t in range(f.shape[1]):
                total += a[g * C + j, t] * f[v, t]
            out[g, v] = total


@kernel
def gradient_of_listed(a: Array, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """The listed U_ij of source column j: out[m] = Σ_t a_i(t) f_j(t); f (W, T)."""
    start, C = laterals.starts[n, j], laterals.own.shape[2]
    for m in range(start, laterals.starts[n, j + 1]):
        to, v = laterals.gate[m] * C + laterals.to[m], laterals.unit[m]
        total = f[0, 0] * 0.0
        for t in range(f.shape[1]):
            total += a[to, t] * f[v, t]
        out[m - start] = total


@kernel
def gradient_of_whole(a: Array, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """All U_ij of source column j, own weights included: out (G·C, W), zero where masked; f (T, W)."""
    np.dot(a, f, out)
    if laterals.masked:
        exists = laterals.exists[n, j]
        for i in range(out.shape[0]):
            for v in range(out.shape[1]):
                out[i, v] = out[i, v] if exists[i, v] else 0.0


@kernel
def gradient_of_recurrence(r: Array, h_tm1: Array, R_exists: Array, out: Array) -> None:
    """R of one network, (G·C, C), zero where masked: r (G·C, T), h_tm1 (T, C)."""
    np.dot(r, h_tm1, out)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = out[i, j] if R_exists[i, j] else 0.0


@kernel
def gradient_of_bias(a: Array, out: Array) -> None:
    """q of one network, (G·C,)."""
    for i in range(out.size):
        total = a[0, 0] * 0.0
        for t in range(a.shape[1]):
            total += a[i, t]
        out[i] = total
