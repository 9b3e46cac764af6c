"""The recursion of kf-rtrl, compiled: all draws of one matrix at a time, its A in cache.

Of one matrix: J (T, Q, Q), ∂L/∂τ (T, Q), D (T, P, rows), inner products of inputs (T, T), the signs times p2 and times
1/p2 (draws, T); A is (Q, draws·rows).
"""

import numpy as np

from colrun.compiling import Array, kernel


@kernel
def multiply(J: Array, A: Array, out: Array) -> None:
    """out = J A, four rows of A at a time; where J has zeros, as with few laterals, they cost nothing."""
    Q, columns = A.shape
    whole = Q // 4 * 4
    for q in range(Q):
        for n in range(columns):
            out[q, n] = 0.0
        for p in range(0, whole, 4):
            j0, j1, j2, j3 = J[q, p], J[q, p + 1], J[q, p + 2], J[q, p + 3]
            if j0 != 0.0 or j1 != 0.0 or j2 != 0.0 or j3 != 0.0:
                for n in range(columns):
                    out[q, n] += j0 * A[p, n] + j1 * A[p + 1, n] + j2 * A[p + 2, n] + j3 * A[p + 3, n]
        for p in range(whole, Q):
            if J[q, p] != 0.0:
                for n in range(columns):
                    out[q, n] += J[q, p] * A[p, n]


@kernel
def follow_one(
    J: Array, on_loss: Array, D: Array, gram: Array, weight: Array, inverse: Array, A: Array, moved: Array, out: Array
) -> None:
    """c̃ (draws, T, rows) of one matrix."""
    T, P, rows = D.shape
    Q, draws = A.shape[0], weight.shape[0]
    square = np.zeros(draws, dtype=A.dtype)  # ‖u‖²
    shares, decay = np.zeros((draws, T), dtype=A.dtype), np.zeros((draws, T), dtype=A.dtype)
    A[:] = 0.0
    for t in range(T):
        multiply(J[t], A, moved)
        for d in range(draws):
            here = slice(d * rows, (d + 1) * rows)
            norm = square[d] * 0.0
            for q in range(Q):
                row = moved[q, here]
                for n in range(rows):
                    norm += row[n] * row[n]
            p1 = p1_inverse = norm * 0.0
            if norm != 0.0 and square[d] != 0.0:
                p1 = (norm / square[d]) ** 0.25
                p1_inverse = (square[d] / norm) ** 0.25
            cross = norm * 0.0
            for u in range(t):
                shares[d, u] *= p1
                cross += shares[d, u] * gram[t, u]
            c = weight[d, t]
            square[d] = max(p1 * p1 * square[d] + c * (2.0 * cross + c * gram[t, t]), norm * 0.0)
            shares[d, t] = c
            decay[d, t] = p1
            gain = out[d, t]
            gain[:] = 0.0
            for q in range(Q):
                row, old, loss = A[q, here], moved[q, here], on_loss[t, q]
                if q < P:
                    local, scale = D[t, q], inverse[d, t]
                    for n in range(rows):
                        row[n] = p1_inverse * old[n] + scale * local[n]
                        gain[n] += loss * row[n]
                else:
                    for n in range(rows):
                        row[n] = p1_inverse * old[n]
                        gain[n] += loss * row[n]
    for d in range(draws):
        for t in range(T - 2, -1, -1):
            for n in range(rows):
                out[d, t, n] += decay[d, t + 1] * out[d, t + 1, n]
        for t in range(T):
            for n in range(rows):
                out[d, t, n] *= weight[d, t]


@kernel
def follow(J: Array, on_loss: Array, D: Array, gram: Array, weight: Array, inverse: Array, out: Array) -> None:
    """Of all networks and matrices: the arguments of one, with (N, …) or (N, K, …) before them."""
    N, K, _, _, rows = D.shape
    Q, draws = on_loss.shape[2], weight.shape[2]
    A, moved = np.empty((Q, draws * rows), dtype=out.dtype), np.empty((Q, draws * rows), dtype=out.dtype)
    for n in range(N):
        for k in range(K):
            follow_one(J[n], on_loss[n], D[n, k], gram[n, k], weight[n, k], inverse[n, k], A, moved, out[n, k])
