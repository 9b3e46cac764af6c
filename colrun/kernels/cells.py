"""State updates of the cells, one column at a time, by number; networks/cells holds the same in torch."""

import math

from colrun.kernels import Array, kernel

NUMBERS = {"additive": 0, "feedforward": 1, "gru": 2, "mgu": 3, "lstm": 4}


@kernel
def sigmoid(x: float) -> float:
    """1/(1 + e^-x)."""
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def update(cell: int, a: Array, r: Array, s_tm1: Array, s_t: Array, i: int) -> None:
    """s_i(t) from the pre-activations of column i; arrays are (gates, C) and (S, C)."""
    if cell == 0:
        s_t[0, i] = s_tm1[0, i] + math.tanh(a[0, i] + r[0, i])
    elif cell == 1:
        s_t[0, i] = math.tanh(a[0, i])
    elif cell == 2:
        g = sigmoid(a[0, i] + r[0, i])
        reset = sigmoid(a[1, i] + r[1, i])
        n = math.tanh(a[2, i] + reset * r[2, i])
        s_t[0, i] = (1.0 - g) * n + g * s_tm1[0, i]
    elif cell == 3:
        g = sigmoid(a[0, i] + r[0, i])
        s_t[0, i] = g * s_tm1[0, i] + (1.0 - g) * math.tanh(a[1, i] + r[1, i])
    else:
        forget = sigmoid(a[0, i] + r[0, i])
        let_in = sigmoid(a[1, i] + r[1, i])
        let_out = sigmoid(a[2, i] + r[2, i])
        m = forget * s_tm1[1, i] + let_in * math.tanh(a[3, i] + r[3, i])
        s_t[1, i] = m
        s_t[0, i] = let_out * math.tanh(m)
