"""One step of a group of networks, and the derivatives of their states by rows and by the states before."""

from typing import NamedTuple

from colrun.lanes.layout import Net
from colrun.lanes.vectors import Vector, below, floor, fma, inlined, is_single, kernel, load, same, store, two_to
from colrun.streams import Array

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LN2_HIGH_32, LN2_LOW_32 = 0.693359375, -2.12194440e-4
"""ln 2 in two parts, the first with zeros at the end: n times it has no rounding error."""


class Steps(NamedTuple):
    """What one or several steps leave behind, step after step ("slots"); S numbers of state, G gates, C columns."""

    u: Array
    a: Array
    """(G·C): pre-activations, of the last step alone"""
    r: Array
    by_a: Array
    """(slots, G·C, S): ∂s/∂a and ∂s/∂r"""
    by_r: Array
    by_s: Array
    """(slots, S, S, C): ∂s(t)/∂s(t-1) at fixed pre-activations"""
    D1: Array
    """(slots, …): ∂s/∂π of the units of the first and the second layers, as `Net.D_start` says"""
    D2: Array
    J: Array
    """(slots, Q, Q): ∂τ(t)/∂τ(t-1), τ = s, or (s, w, w_0)"""


@inlined
def expm1(x: Vector) -> Vector:
    """e^x - 1, exact to about the last bit, for |x| ≤ 80."""
    x = below(x, -80.0, -80.0, below(80.0, x, 80.0, x))
    n = floor(fma(x, LOG2_E, 0.5))
    if is_single(x):
        r = x - n * LN2_HIGH_32 - n * LN2_LOW_32
        series = fma(r, 1 / 5040, 1 / 720)
    else:
        r = x - n * LN2_HIGH - n * LN2_LOW
        series = fma(r, 1 / 6227020800, 1 / 479001600)
        series = fma(r, series, 1 / 39916800)
        series = fma(r, series, 1 / 3628800)
        series = fma(r, series, 1 / 362880)
        series = fma(r, series, 1 / 40320)
        series = fma(r, series, 1 / 5040)
        series = fma(r, series, 1 / 720)
    series = fma(r, series, 1 / 120)
    series = fma(r, series, 1 / 24)
    series = fma(r, series, 1 / 6)
    series = fma(r, series, 1 / 2)
    series = fma(r * r, series, r)
    power = two_to(n)
    return fma(power, series, power - 1.0)


@inlined
def tanh(x: Vector) -> Vector:
    e = expm1(2.0 * x)
    return e / (e + 2.0)


@inlined
def sigmoid(x: Vector) -> Vector:
    return 1.0 / (expm1(0.0 - x) + 2.0)


@inlined
def row_sum(net: Net, theta: Array, u: Array, at: int, row: int) -> Vector:
    """π of one row; `at` is where u begins."""
    total = same(theta, 0.0)
    for m in range(net.start[row], net.start[row + 1]):
        total = fma(load(theta, m), load(u, at + net.source[m]), total)
    return total


@kernel
def forward(net: Net, theta: Array, s: Array, steps: Steps, slot: int) -> None:
    """s(t-1) → s(t); x(t) is in u already."""
    u, at, units, gates = steps.u, slot * net.seen, net.C * net.W, net.G * net.C
    store(u, at + net.inputs, same(u, 1.0))
    for i in range(net.C):
        store(u, at + net.inputs + 1 + i, load(s, i))
    for row in range(2 * units):
        total = row_sum(net, theta, u, at, row)
        store(u, at + net.z_at + row, below(total, 0.0, 0.0, total))
    for row in range(gates):
        store(steps.a, row, row_sum(net, theta, u, at, 2 * units + row))
        store(steps.r, row, row_sum(net, theta, u, at, 2 * units + gates + row))
    update(net, s, steps, slot)


@kernel
def update(net: Net, s: Array, steps: Steps, slot: int) -> None:
    """The cells: s(t) and its derivatives by pre-activations and by s(t-1), column by column."""
    C, S, a, r, by_a, by_r, by_s = net.C, net.S, steps.a, steps.r, steps.by_a, steps.by_r, steps.by_s
    at, own = slot * net.G * C * S, slot * S * S * C
    for i in range(C):
        h = load(s, i)
        if net.cell == 0:
            n = tanh(load(a, i) + load(r, i))
            store(s, i, h + n)
            by = 1.0 - n * n
            store(by_a, at + i, by)
            store(by_r, at + i, by)
            store(by_s, own + i, same(s, 1.0))
        elif net.cell == 1:
            n = tanh(load(a, i))
            store(s, i, n)
            store(by_a, at + i, 1.0 - n * n)
            store(by_r, at + i, same(s, 0.0))
            store(by_s, own + i, same(s, 0.0))
        elif net.cell == 2:
            g = sigmoid(load(a, i) + load(r, i))
            reset = sigmoid(load(a, C + i) + load(r, C + i))
            recurrent = load(r, 2 * C + i)
            n = tanh(fma(reset, recurrent, load(a, 2 * C + i)))
            store(s, i, fma(g, h - n, n))
            by_g, by_n = g * (1.0 - g) * (h - n), (1.0 - g) * (1.0 - n * n)
            by_reset = by_n * recurrent * reset * (1.0 - reset)
            for by_any in (by_a, by_r):
                store(by_any, at + i, by_g)
                store(by_any, at + C + i, by_reset)
            store(by_a, at + 2 * C + i, by_n)
            store(by_r, at + 2 * C + i, by_n * reset)
            store(by_s, own + i, g)
        elif net.cell == 3:
            g = sigmoid(load(a, i) + load(r, i))
            n = tanh(load(a, C + i) + load(r, C + i))
            store(s, i, fma(g, h - n, n))
            by_g, by_n = g * (1.0 - g) * (h - n), (1.0 - g) * (1.0 - n * n)
            for by_any in (by_a, by_r):
                store(by_any, at + i, by_g)
                store(by_any, at + C + i, by_n)
            store(by_s, own + i, g)
        else:
            forget = sigmoid(load(a, i) + load(r, i))
            enter = sigmoid(load(a, C + i) + load(r, C + i))
            out = sigmoid(load(a, 2 * C + i) + load(r, 2 * C + i))
            n = tanh(load(a, 3 * C + i) + load(r, 3 * C + i))
            before = load(s, C + i)
            m = fma(forget, before, enter * n)
            shown = tanh(m)
            store(s, i, out * shown)
            store(s, C + i, m)
            through = out * (1.0 - shown * shown)
            by_f, by_i = forget * (1.0 - forget) * before, enter * (1.0 - enter) * n
            by_o, by_p, zero = out * (1.0 - out) * shown, enter * (1.0 - n * n), same(s, 0.0)
            for by_any in (by_a, by_r):
                store(by_any, at + 2 * i, through * by_f)
                store(by_any, at + 2 * i + 1, by_f)
                store(by_any, at + 2 * (C + i), through * by_i)
                store(by_any, at + 2 * (C + i) + 1, by_i)
                store(by_any, at + 2 * (2 * C + i), by_o)
                store(by_any, at + 2 * (2 * C + i) + 1, zero)
                store(by_any, at + 2 * (3 * C + i), through * by_p)
                store(by_any, at + 2 * (3 * C + i) + 1, by_p)
            store(by_s, own + i, zero)
            store(by_s, own + C + i, through * forget)
            store(by_s, own + 2 * C + i, zero)
            store(by_s, own + 3 * C + i, forget)


@kernel
def by_features(net: Net, theta: Array, steps: Steps, slot: int) -> None:
    """D2, then D1: from gates to features, from features to the first layer."""
    C, S, W, D1, D2 = net.C, net.S, net.W, steps.D1, steps.D2
    units, gates, base = C * W, net.G * C, slot * net.D_start[C]
    for n in range(net.D_start[C]):
        store(D1, base + n, same(D1, 0.0))
        store(D2, base + n, same(D2, 0.0))
    for gate in range(gates):
        row = 2 * units + gate
        for m in range(net.start[row], net.start[row + 1]):
            if net.D_at[m] >= 0:
                weight, place = load(theta, m), base + net.D_at[m]
                for k in range(S):
                    by = load(steps.by_a, (slot * gates + gate) * S + k)
                    store(D2, place + k, fma(by, weight, load(D2, place + k)))
    for j in range(C):
        many = net.reach_start[j + 1] - net.reach_start[j]
        for unit in range(W):
            active = below(0.0, load(steps.u, slot * net.seen + net.f_at + j * W + unit), 1.0, 0.0)
            place = base + net.D_start[j] + unit * many
            for n in range(many):
                store(D2, place + n, active * load(D2, place + n))
            row = units + j * W + unit
            for m in range(net.start[row], net.start[row + 1]):
                if net.source[m] >= net.z_at:
                    weight = load(theta, m)
                    to = base + net.D_start[j] + (net.source[m] - net.z_at - j * W) * many
                    for n in range(many):
                        store(D1, to + n, fma(weight, load(D2, place + n), load(D1, to + n)))
        for unit in range(W):
            active = below(0.0, load(steps.u, slot * net.seen + net.z_at + j * W + unit), 1.0, 0.0)
            place = base + net.D_start[j] + unit * many
            for n in range(many):
                store(D1, place + n, active * load(D1, place + n))


@kernel
def jacobian(net: Net, theta: Array, steps: Steps, slot: int, lms: Array, leak: bool) -> None:
    """D1, D2 and J; `lms` holds J's rows of w. `leak`: of J only the direct path from s(t-1) to s(t)."""
    C, S, P, Q, J = net.C, net.S, net.P, net.Q, steps.J
    gates, at = net.G * C, slot * Q * Q
    for n in range(P * Q):
        store(J, at + n, same(J, 0.0))
    for n in range((Q - P) * Q):
        store(J, at + P * Q + n, load(lms, n))
    for k in range(S):
        for m in range(S):
            for i in range(C):
                store(J, at + (k * C + i) * Q + m * C + i, load(steps.by_s, slot * S * S * C + (k * S + m) * C + i))
    if net.W > 0:
        by_features(net, theta, steps, slot)
    if leak:
        return
    for n in range(net.links.shape[0]):
        weight, gate = load(theta, net.links[n, 0]), slot * gates + net.links[n, 1]
        for k in range(S):
            place = at + (k * C + net.links[n, 2]) * Q + net.links[n, 3]
            store(J, place, fma(weight, load(steps.by_r, gate * S + k), load(J, place)))
    for unit in range(C * net.W):
        if net.own[unit] >= 0:
            j = unit // net.W
            weight, first = load(theta, net.own[unit]), net.reach_start[j]
            many = net.reach_start[j + 1] - first
            from_unit = slot * net.D_start[C] + net.D_start[j] + (unit - j * net.W) * many
            for n in range(many):
                place = at + net.reach[first + n] * Q + j
                store(J, place, fma(weight, load(steps.D1, from_unit + n), load(J, place)))
