"""The gradient of one column from a credit: what every estimator shares, and where the engine spends its time.

The column is number j of network n; a (G·C, T) is the credit of the network's U f + q. Steps come last wherever a loop
runs over them, so that narrow columns use the vector units as well as wide ones.
"""

from typing import NamedTuple

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
    """Credit of what enters the gates, out (G·C, T), from that of the states (T, S·C) and the partials (T, S, G, C).

    `out` may have fewer steps, the first ones.
    """
    _, S, G, C = partials.shape
    T = out.shape[1]
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
        product(laterals.whole[n, j].T, a, out)
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


class Own(NamedTuple):
    """What a credit of 1 of each gate is to the layers of its column, through own weights alone: (G, rows, T)."""

    second: Array
    first: Array


class Units(NamedTuple):
    """Units that have laterals, of columns that are taken together."""

    counts: Array
    """(columns,): how many each has"""
    place: Array
    """(columns, W): the place of each among those, or -1"""
    rows: Array
    """(columns, W, W): their rows of B"""
    credit: Array
    """Room for their credit, (W·T,), and for what it is to the first layer."""
    below: Array


@kernel
def through_own(laterals: Laterals, n: int, j: int, f: Array, z: Array, B: Array, own: Own, number: int) -> None:
    """Fill in column j, which is that `number` of those that are taken together."""
    G, (W, T) = laterals.own.shape[1], f.shape
    here = slice(number * W, (number + 1) * W)
    for g in range(G):
        second, first = own.second[g, here], own.first[g, here]
        for v in range(W):
            weight = laterals.own[n, g, j, v]
            for t in range(T):
                second[v, t] = weight if f[v, t] > 0.0 else 0.0
        np.dot(B.T, second, first)
        mask(first, z)


@kernel
def gather_units(laterals: Laterals, n: int, j: int, B: Array, units: Units, number: int) -> None:
    """Fill in those of column j."""
    count, place = 0, units.place[number]
    place[:] = -1
    for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
        unit = laterals.unit[m]
        if place[unit] < 0:
            place[unit] = count
            units.rows[number, count] = B[unit]
            count += 1
    units.counts[number] = count


@kernel
def spread(a: Array, j: int, C: int, base: Array, start: int, out: Array) -> None:
    """out (W, T) = Σ_g a_j(t) base (G, …, T), of the rows of `base` from `start` on."""
    W, T = out.shape
    for v in range(W):
        for t in range(T):
            out[v, t] = a[j, t] * base[0, start + v, t]
        for g in range(1, base.shape[0]):
            for t in range(T):
                out[v, t] += a[g * C + j, t] * base[g, start + v, t]


@kernel
def credit_of_layers(
    a: Array, crosses: bool, laterals: Laterals, n: int, j: int, f: Array, z: Array, B: Array, own: Own, units: Units,
    number: int, second: Array, first: Array,
) -> None:  # fmt: skip
    """Credits of both layers of column j, (W, T) each, where laterals are listed.

    The way back through B is shared by all estimates, but for what comes through laterals: that has a product with the
    rows of B that have any, unless these are half of them or more.
    """
    W, T = second.shape
    C, count = laterals.own.shape[2], units.counts[number]
    spread(a, j, C, own.second, number * W, second)
    if not crosses or count == 0:
        spread(a, j, C, own.first, number * W, first)
        return
    place, credit = units.place[number], units.credit[: count * T].reshape(count, T)
    for u in range(count):
        for t in range(T):
            credit[u, t] = 0.0
    for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
        to, v, weight = laterals.gate[m] * C + laterals.to[m], laterals.unit[m], laterals.value[m]
        u = place[v]
        for t in range(T):
            credit[u, t] += a[to, t] * weight if f[v, t] > 0.0 else 0.0
    for v in range(W):
        if place[v] >= 0:
            for t in range(T):
                second[v, t] += credit[place[v], t]
    if 2 * count >= W:
        product(B.T, second, first)
        mask(first, z)
        return
    spread(a, j, C, own.first, number * W, first)
    below = units.below[: W * T].reshape(W, T)
    product(units.rows[number, :count].T, credit, below)
    for v in range(W):
        for t in range(T):
            first[v, t] += below[v, t] if z[v, t] > 0.0 else 0.0


@kernel
def product(one: Array, other: Array, out: Array) -> None:
    """Also over no steps at all."""
    if one.shape[1] == 0:
        out[:] = 0.0
    elif out.size > 0:
        np.dot(one, other, out)


@kernel
def mask(credit: Array, unit: Array) -> None:
    """Nothing passes a unit that is silent: credits (rows, T) and the units they go to, of as many steps or more."""
    rows, T = credit.shape
    for k in range(rows):
        for t in range(T):
            credit[k, t] = credit[k, t] if unit[k, t] > 0.0 else 0.0


@kernel
def gradient_of_own(a: Array, j: int, C: int, f: Array, out: Array) -> None:
    """U_jj: out (G, W) = Σ_t a_j(t) f_j(t); f (W, T)."""
    for g in range(out.shape[0]):
        for v in range(out.shape[1]):
            total = f[0, 0] * 0.0
            for t in range(a.shape[1]):
                total += a[g * C + j, t] * f[v, t]
            out[g, v] = total


@kernel
def gradient_of_listed(a: Array, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """The listed U_ij of source column j: out[m] = Σ_t a_i(t) f_j(t); f (W, T)."""
    start, C = laterals.starts[n, j], laterals.own.shape[2]
    for m in range(start, laterals.starts[n, j + 1]):
        to, v = laterals.gate[m] * C + laterals.to[m], laterals.unit[m]
        total = f[0, 0] * 0.0
        for t in range(a.shape[1]):
            total += a[to, t] * f[v, t]
        out[m - start] = total


@kernel
def gradient_of_whole(a: Array, laterals: Laterals, n: int, j: int, f: Array, out: Array) -> None:
    """All U_ij of source column j, own weights included: out (G·C, W), zero where masked; f (T, W)."""
    product(a, f, out)
    if laterals.masked:
        exists = laterals.exists[n, j]
        for i in range(out.shape[0]):
            for v in range(out.shape[1]):
                out[i, v] = out[i, v] if exists[i, v] else 0.0


@kernel
def gradient_of_recurrence(r: Array, h_tm1: Array, R_exists: Array, out: Array) -> None:
    """R of one network, (G·C, C), zero where masked: r (G·C, T), h_tm1 (T, C)."""
    product(r, h_tm1, out)
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
