"""State updates of the cells and their derivatives, by number; networks/cells holds the same in torch.

The libraries' tanh and exponential take one number at a time. For float32 they are replaced by one exponential in
float64 that the vector units can take, which is exact to the last bit but one of float32.
"""

import math

import numpy as np

from colrun.compiling import Array, kernel

NUMBERS = {"additive": 0, "feedforward": 1, "gru": 2, "mgu": 3, "lstm": 4}
SAME = ("additive", "mgu", "lstm")
"""Cells in which ∂s/∂a = ∂s/∂r: they see the sum of both."""
LANES = 8
"""Rows of columns are filled up to a multiple of so many, so that no column is left over for a slower loop."""
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
"""ln 2 in two parts, the first with zeros at the end: n times it has no rounding error."""

OVER = tuple(1 / math.factorial(k) for k in range(12))
"""1/k!"""


@kernel
def exponential(x: float) -> float:
    """e^x in float64: 2^n times the Taylor series on |r| ≤ ln(2)/2, where its rest is below 1e-14."""
    x = -700.0 if x < -700.0 else 700.0 if x > 700.0 else x  # NaN stays
    n = np.floor(x * LOG2_E + 0.5)
    r = x - n * LN2_HIGH - n * LN2_LOW
    series = OVER[11]
    for k in range(10, -1, -1):
        series = OVER[k] + r * series
    return series * np.int64((np.int64(n) + 1023) << 52).view(np.float64)


@kernel
def tanh(row: Array) -> None:
    """Of every number, in place."""
    for i in range(row.size):
        if row.itemsize == 4:
            x = np.float64(row[i])
            e = exponential(2.0 * x)
            row[i] = x - x * x * x / 3 if abs(x) < 1e-3 else (e - 1.0) / (e + 1.0)
        else:
            row[i] = math.tanh(row[i])


@kernel
def sigmoid(row: Array) -> None:
    """1/(1 + e^-x) of every number, in place."""
    for i in range(row.size):
        row[i] = 1.0 / (1.0 + (exponential(-np.float64(row[i])) if row.itemsize == 4 else math.exp(-row[i])))


@kernel
def update(cell: int, a: Array, r: Array, s: Array, t: int, rooms: Array) -> None:
    """s(t) of all columns: a and r are (T, G, C), s is (T+1, S, C) and holds s(t-1) at t, s(t) at t+1.

    `rooms` (G, C filled up to `LANES`) is room to work in; what lies beyond C is of no account, but must be finite.
    """
    G, C = a.shape[1], a.shape[2]
    for g in range(G):
        for i in range(C):
            rooms[g, i] = a[t, g, i] + r[t, g, i]
    if cell == 0:
        tanh(rooms[0])
        for i in range(C):
            s[t + 1, 0, i] = s[t, 0, i] + rooms[0, i]
    elif cell == 1:
        tanh(rooms[0])
        for i in range(C):
            s[t + 1, 0, i] = rooms[0, i]
    elif cell == 2:
        sigmoid(rooms[0])
        sigmoid(rooms[1])
        for i in range(C):
            rooms[2, i] = a[t, 2, i] + rooms[1, i] * r[t, 2, i]
        tanh(rooms[2])
        for i in range(C):
            g = rooms[0, i]
            s[t + 1, 0, i] = (1.0 - g) * rooms[2, i] + g * s[t, 0, i]
    elif cell == 3:
        sigmoid(rooms[0])
        tanh(rooms[1])
        for i in range(C):
            g = rooms[0, i]
            s[t + 1, 0, i] = g * s[t, 0, i] + (1.0 - g) * rooms[1, i]
    else:
        for g in range(3):
            sigmoid(rooms[g])
        tanh(rooms[3])
        for i in range(C):
            s[t + 1, 1, i] = rooms[0, i] * s[t, 1, i] + rooms[1, i] * rooms[3, i]
            rooms[3, i] = s[t + 1, 1, i]
        tanh(rooms[3])
        for i in range(C):
            s[t + 1, 0, i] = rooms[2, i] * rooms[3, i]


@kernel
def partials(cell: int, a: Array, r: Array, s: Array, by_a: Array, by_r: Array, by_s: Array) -> None:
    """Derivatives of `update` at fixed other arguments, of all networks and steps.

    a and r are (N, T, G, C), s is (N, T+1, S, C); ∂s(t)/∂a and ∂s(t)/∂r become `by_a` and `by_r`, (N, T, S, G, C), and
    ∂s(t)/∂s(t-1) not through a or r `by_s`, (N, T, S, S, C). Where both are the same (`SAME`) by_r is not written to.
    """
    N, T, G, C = a.shape
    rooms = np.zeros((G + 1, (T * C + LANES - 1) // LANES * LANES), a.dtype)
    for n in range(N):
        a_n, r_n, s_n, by_a_n, by_r_n, by_s_n = a[n], r[n], s[n], by_a[n], by_r[n], by_s[n]
        for t in range(T):
            for g in range(G):
                for i in range(C):
                    rooms[g, t * C + i] = a_n[t, g, i] + r_n[t, g, i]
        if cell < 2:
            tanh(rooms[0])
            for t in range(T):
                for i in range(C):
                    by_a_n[t, 0, 0, i] = 1.0 - rooms[0, t * C + i] ** 2
                    by_s_n[t, 0, 0, i] = 1.0 - cell
        elif cell == 2:
            sigmoid(rooms[0])
            sigmoid(rooms[1])
            for t in range(T):
                for i in range(C):
                    rooms[2, t * C + i] = a_n[t, 2, i] + rooms[1, t * C + i] * r_n[t, 2, i]
            tanh(rooms[2])
            for t in range(T):
                for i in range(C):
                    g, reset, new = rooms[0, t * C + i], rooms[1, t * C + i], rooms[2, t * C + i]
                    by_g, by_new = g * (1.0 - g) * (s_n[t, 0, i] - new), (1.0 - g) * (1.0 - new * new)
                    by_reset = by_new * r_n[t, 2, i] * reset * (1.0 - reset)
                    by_a_n[t, 0, 0, i], by_a_n[t, 0, 1, i], by_a_n[t, 0, 2, i] = by_g, by_reset, by_new
                    by_r_n[t, 0, 0, i], by_r_n[t, 0, 1, i], by_r_n[t, 0, 2, i] = by_g, by_reset, by_new * reset
                    by_s_n[t, 0, 0, i] = g
        elif cell == 3:
            sigmoid(rooms[0])
            tanh(rooms[1])
            for t in range(T):
                for i in range(C):
                    g, new = rooms[0, t * C + i], rooms[1, t * C + i]
                    by_a_n[t, 0, 0, i] = g * (1.0 - g) * (s_n[t, 0, i] - new)
                    by_a_n[t, 0, 1, i] = (1.0 - g) * (1.0 - new * new)
                    by_s_n[t, 0, 0, i] = g
        else:
            for g in range(3):
                sigmoid(rooms[g])
            tanh(rooms[3])
            for t in range(T):
                for i in range(C):
                    rooms[4, t * C + i] = s_n[t + 1, 1, i]
            tanh(rooms[4])
            for t in range(T):
                for i in range(C):
                    forget, enter, leave = rooms[0, t * C + i], rooms[1, t * C + i], rooms[2, t * C + i]
                    new, seen, m_tm1 = rooms[3, t * C + i], rooms[4, t * C + i], s_n[t, 1, i]
                    by_m = leave * (1.0 - seen * seen)
                    by_forget, by_enter = forget * (1.0 - forget) * m_tm1, enter * (1.0 - enter) * new
                    by_new = enter * (1.0 - new * new)
                    by_a_n[t, 1, 0, i], by_a_n[t, 1, 1, i] = by_forget, by_enter
                    by_a_n[t, 1, 2, i], by_a_n[t, 1, 3, i] = 0.0, by_new
                    by_a_n[t, 0, 0, i], by_a_n[t, 0, 1, i] = by_m * by_forget, by_m * by_enter
                    by_a_n[t, 0, 2, i], by_a_n[t, 0, 3, i] = leave * (1.0 - leave) * seen, by_m * by_new
                    by_s_n[t, 0, 0, i], by_s_n[t, 0, 1, i] = 0.0, by_m * forget
                    by_s_n[t, 1, 0, i], by_s_n[t, 1, 1, i] = 0.0, forget
