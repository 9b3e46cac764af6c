"""One learner in a plain numba loop, the reference that the lanes are measured against (LEARNING.md section 7).

The same arithmetic as the lanes, for one run: an mgu network without feature layers and without masks, rmsprop, LMS
with a bias; rtrl, master-user and tbptt-k. Loops run over rows of contiguous numbers in float32, so that LLVM
vectorises them (`fastmath`), tanh and the logistic function included; nothing is allocated within the loop over steps,
and sums over states are written out for five states at a time.
"""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RTRL, MASTER_USER, TBPTT = 0, 1, 2
compiled = numba.njit(cache=True, fastmath=True, error_model="numpy")


@compiled
def expm1(x: Any) -> Any:
    x = min(max(x, np.float32(-80)), np.float32(80))
    n = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1 / 5040) * r + np.float32(1 / 720)
    p = p * r + np.float32(1 / 120)
    p = p * r + np.float32(1 / 24)
    p = p * r + np.float32(1 / 6)
    p = p * r + np.float32(1 / 2)
    p = p * r * r + r
    power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return power * p + (power - np.float32(1))


@compiled
def run(
    kind: int, k: int, libm: bool, theta: Array, w: Array, x: Array, y: Array, counted: Array, eta: float, alpha: float
) -> float:
    """Mean squared error over counted steps. θ is (2, C, inputs + 1 + C): gate, column, what it sees.

    `libm`: gates by the library's tanh and exp, as one would write them, instead of series that LLVM can vectorise.
    """
    one, two = np.float32(1), np.float32(2)
    _, C, n = theta.shape
    inputs, flat = n - 1 - C, theta.size
    eta, alpha = np.float32(eta), np.float32(alpha)
    weights = theta.reshape(-1)
    gradient, v = np.zeros(flat, np.float32), np.zeros(flat, np.float32)
    grown = gradient.reshape(2, C, n)
    M, new = np.zeros((C, flat), np.float32), np.zeros((C, flat), np.float32)
    e = np.zeros((2, C, n), np.float32)
    filled = (C + 7) // 8 * 8
    gate, cand = np.zeros(filled, np.float32), np.zeros(filled, np.float32)
    h, minus = np.zeros(C, np.float32), np.zeros(C, np.float32)
    by = np.zeros((k, 2, C), np.float32)
    J, u = np.zeros((k, C, C), np.float32), np.zeros((k, n), np.float32)
    lam, pulled = np.zeros(C, np.float32), np.zeros(C, np.float32)
    total, count, updates = 0.0, 0, 0
    for t in range(y.size):
        slot = t % k
        for m in range(inputs):
            u[slot, m] = x[t, m]
        u[slot, inputs] = one
        for i in range(C):
            u[slot, inputs + 1 + i] = h[i]
        for i in range(C):
            a, b = np.float32(0), np.float32(0)
            for m in range(n):
                a += theta[0, i, m] * u[slot, m]
                b += theta[1, i, m] * u[slot, m]
            gate[i], cand[i] = a, b
        if libm:
            for i in range(C):
                gate[i], cand[i] = one / (one + math.exp(-gate[i])), math.tanh(cand[i])
        else:
            for i in range(filled):
                gate[i] = one / (expm1(-gate[i]) + two)
            for i in range(filled):
                f = expm1(two * cand[i])
                cand[i] = f / (f + two)
        for i in range(C):
            by[slot, 0, i] = gate[i] * (one - gate[i]) * (h[i] - cand[i])
            by[slot, 1, i] = (one - gate[i]) * (one - cand[i] * cand[i])
            h[i] = gate[i] * h[i] + (one - gate[i]) * cand[i]
        if kind != MASTER_USER:
            for i in range(C):
                for j in range(C):
                    J[slot, i, j] = (
                        by[slot, 0, i] * theta[0, i, inputs + 1 + j] + by[slot, 1, i] * theta[1, i, inputs + 1 + j]
                    )
                J[slot, i, i] += gate[i]
        delta = y[t] - w[C]
        for i in range(C):
            delta -= w[i] * h[i]
        for i in range(C):
            minus[i] = -delta * w[i]
        if kind == RTRL:
            for i in range(C):
                for j in range(0, C - 4, 5):
                    a, b, c, d, f = (
                        J[slot, i, j],
                        J[slot, i, j + 1],
                        J[slot, i, j + 2],
                        J[slot, i, j + 3],
                        J[slot, i, j + 4],
                    )
                    if j == 0:
                        for m in range(flat):
                            new[i, m] = a * M[0, m] + b * M[1, m] + c * M[2, m] + d * M[3, m] + f * M[4, m]
                    else:
                        for m in range(flat):
                            new[i, m] += (
                                a * M[j, m] + b * M[j + 1, m] + c * M[j + 2, m] + d * M[j + 3, m] + f * M[j + 4, m]
                            )
                for g in range(2):
                    at = (g * C + i) * n
                    for m in range(n):
                        new[i, at + m] += by[slot, g, i] * u[slot, m]
            M, new = new, M
            for i in range(0, C - 4, 5):
                a, b, c, d, f = minus[i], minus[i + 1], minus[i + 2], minus[i + 3], minus[i + 4]
                if i == 0:
                    for m in range(flat):
                        gradient[m] = a * M[0, m] + b * M[1, m] + c * M[2, m] + d * M[3, m] + f * M[4, m]
                else:
                    for m in range(flat):
                        gradient[m] += (
                            a * M[i, m] + b * M[i + 1, m] + c * M[i + 2, m] + d * M[i + 3, m] + f * M[i + 4, m]
                        )
        elif kind == MASTER_USER:
            for i in range(C):
                own = gate[i]
                for g in range(2):
                    own += by[slot, g, i] * theta[g, i, inputs + 1 + i]
                for g in range(2):
                    a, b = by[slot, g, i], minus[i]
                    for m in range(n):
                        e[g, i, m] = own * e[g, i, m] + a * u[slot, m]
                        grown[g, i, m] = b * e[g, i, m]
        elif counted[t]:
            gradient[:] = 0
            for i in range(C):
                lam[i] = minus[i]
            for back in range(min(k, t + 1)):
                at = (t - back) % k
                for g in range(2):
                    for i in range(C):
                        a = lam[i] * by[at, g, i]
                        for m in range(n):
                            grown[g, i, m] += a * u[at, m]
                pulled[:] = 0
                for i in range(C):
                    for j in range(C):
                        pulled[j] += lam[i] * J[at, i, j]
                for j in range(C):
                    lam[j] = pulled[j]
        if not counted[t]:
            continue
        total += delta * delta
        count += 1
        updates += 1
        corrected = np.float32(1 / (1 - 0.999 ** np.float64(updates)))
        for m in range(flat):
            v[m] += np.float32(0.001) * (gradient[m] * gradient[m] - v[m])
            weights[m] -= eta * gradient[m] / (np.sqrt(v[m] * corrected) + np.float32(1e-8))
        for i in range(C):
            w[i] += alpha * delta * h[i]
        w[C] += alpha * delta
    return total / count
