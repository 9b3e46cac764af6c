"""State updates of the cells, one column at a time, by number; networks/cells holds the same in torch."""

import math

from colrun.kernels import Array, kernel

NUMBERS = {"additive": 0, "feedforward": 1, "gru": 2, "mgu": 3, "lstm": 4}


@kernel
def sigmoid(x: float) -> float:
    """1/(1 + e^-x)."""
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def update(cell: int, a: Array, r: Array, s: Array, t: int, i: int) -> None:
    """s_i(t) of column i: a and r are (T, G, C), s is (T+1, S, C) and holds s(t-1) at t, s(t) at t+1."""
    if cell == 0:
        s[t + 1, 0, i] = s[t, 0, i] + math.tanh(a[t, 0, i] + r[t, 0, i])
    elif cell == 1:
        s[t + 1, 0, i] = math.tanh(a[t, 0, i])
    elif cell == 2:
        g = sigmoid(a[t, 0, i] + r[t, 0, i])
        reset = sigmoid(a[t, 1, i] + r[t, 1, i])
        n = math.tanh(a[t, 2, i] + reset * r[t, 2, i])
        s[t + 1, 0, i] = (1.0 - g) * n + g * s[t, 0, i]
    elif cell == 3:
        g = sigmoid(a[t, 0, i] + r[t, 0, i])
        s[t + 1, 0, i] = g * s[t, 0, i] + (1.0 - g) * math.tanh(a[t, 1, i] + r[t, 1, i])
    else:
        forget = sigmoid(a[t, 0, i] + r[t, 0, i])
        let_in = sigmoid(a[t, 1, i] + r[t, 1, i])
        let_out = sigmoid(a[t, 2, i] + r[t, 2, i])
        m = forget * s[t, 1, i] + let_in * math.tanh(a[t, 3, i] + r[t, 3, i])
        s[t + 1, 1, i] = m
        s[t + 1, 0, i] = let_out * math.tanh(m)
