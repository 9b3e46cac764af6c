"""The fast form of kf-rtrl: see kf_rtrl.py. All draws of one matrix at a time, its A in cache.

Of one matrix: J (T, Q, Q), ∂L/∂τ (T, Q), D (T, P, rows), inner products of inputs (T, T), signs (draws, T); A is
(Q, draws·rows).
"""

import math

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.forms import Credit, PreactivationCredit, StochasticForm
from colrun.engine.run import Run
from colrun.estimators.learner_fast import balanced, learner_jacobian, learner_loss


class KFRTRL(StochasticForm):
    """A pair for every matrix."""

    name = "kf-rtrl"

    def drawn(self, run: Run, draws: list[int]) -> list[Credit]:
        """First and second layers by column, then the rows of gates."""
        by_a, by_r, _ = run.partials
        N, T, _, G, C = by_a.shape
        W, dtype = run.f.shape[3], run.f.dtype
        sizes = [C, C, G * C, G * C][: 4 if run.linked else 3]
        signs = self.signs(run, draws, sum(sizes)).transpose(0, 3, 1, 2)  # (N, K, draws, T)
        first_signs, second_signs, a_signs, *r_signs = map(
            np.ascontiguousarray, np.split(signs, np.cumsum(sizes)[:-1], axis=1)
        )
        course = learner_jacobian(run), learner_loss(run)
        second, first = (np.empty((N, C, len(draws), T, W), dtype) for _ in range(2))
        layers(
            *course, by_a, run.batch.U, run.batch.layers.B, run.z, run.f,
            run.grams.second, run.grams.first, second_signs, first_signs, second, first,
        )  # fmt: skip
        a, r = np.empty((N, G * C, len(draws), T), dtype), np.zeros((N, G * C, len(draws), T), dtype)
        rows(*course, by_a, run.grams.a, a_signs, a)
        if run.linked:
            rows(*course, by_r, run.grams.r, r_signs[0], r)
        of_gates = (each.transpose(2, 0, 3, 1).reshape(-1, N, T, G, C) for each in (a, r))
        of_layers = (each.transpose(2, 0, 1, 4, 3) for each in (second, first))  # (draws, N, C, W, T)
        return [PreactivationCredit(*parts) for parts in zip(*of_gates, *of_layers, strict=True)]


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
def scale_of(norm: float, square: float, c: float, gram: Array, shares: Array, t: int) -> tuple[float, float, float]:
    """1/p1, p1 and ‖u(t)‖², from ‖J A‖², ‖u(t-1)‖², c p2 and the inner products of i(t) with those before; `shares`,
    of the inputs in u, move on."""
    p1 = p1_inverse = norm * 0.0
    if norm != 0.0 and square != 0.0:
        p1 = (norm / square) ** 0.25
        p1_inverse = (square / norm) ** 0.25
    cross = norm * 0.0
    for u in range(t):
        shares[u] *= p1
        cross += shares[u] * gram[u]
    shares[t] = c
    return p1_inverse, p1, max(p1 * p1 * square + c * (2.0 * cross + c * gram[t]), norm * 0.0)


@kernel
def follow(J: Array, on_loss: Array, D: Array, gram: Array, signs: Array, A: Array, moved: Array, out: Array) -> None:
    """c̃ (draws, T, rows) of one matrix."""
    T, P, rows = D.shape
    Q, draws = A.shape[0], signs.shape[0]
    weight, inverse = np.empty((draws, T), A.dtype), np.empty((draws, T), A.dtype)  # c p2 and c/p2
    for t in range(T):
        norm = D[0, 0, 0] * 0.0
        for q in range(P):
            for n in range(rows):
                norm += D[t, q, n] * D[t, q, n]
        p2, p2_inverse = balanced(math.sqrt(norm), math.sqrt(gram[t, t]))
        for d in range(draws):
            weight[d, t], inverse[d, t] = signs[d, t] * p2, signs[d, t] * p2_inverse
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
            p1_inverse, decay[d, t], square[d] = scale_of(norm, square[d], weight[d, t], gram[t], shares[d], t)
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
def layers(
    J: Array, on_loss: Array, by_a: Array, U: Array, B: Array, z: Array, f: Array,
    of_second: Array, of_first: Array, second_signs: Array, first_signs: Array, second: Array, first: Array,
) -> None:  # fmt: skip
    """Both layers of every column: U (N, G, C, C, W), inner products (N, C, T, T), signs (N, C, draws, T); what becomes
    of them is (N, C, draws, T, W)."""
    N, C, T, W = f.shape
    S, G = by_a.shape[2], by_a.shape[3]
    Q, draws = on_loss.shape[2], second_signs.shape[2]
    A, moved = np.empty((Q, draws * W), f.dtype), np.empty((Q, draws * W), f.dtype)
    by_second, by_first = np.empty((T, S * C, W), f.dtype), np.empty((T, S * C, W), f.dtype)
    for n in range(N):
        for j in range(C):
            for t in range(T):
                for k in range(S):
                    for i in range(C):
                        here = by_second[t, k * C + i]
                        by = by_a[n, t, k, 0, i]
                        for v in range(W):
                            here[v] = by * U[n, 0, i, j, v] if f[n, j, t, v] > 0.0 else 0.0
                        for g in range(1, G):
                            by = by_a[n, t, k, g, i]
                            for v in range(W):
                                here[v] += by * U[n, g, i, j, v] if f[n, j, t, v] > 0.0 else 0.0
            follow(J[n], on_loss[n], by_second, of_second[n, j], second_signs[n, j], A, moved, second[n, j])
            np.dot(by_second.reshape(T * S * C, W), B[n, j], by_first.reshape(T * S * C, W))
            for t in range(T):
                for p in range(S * C):
                    for v in range(W):
                        by_first[t, p, v] = by_first[t, p, v] if z[n, j, t, v] > 0.0 else 0.0
            follow(J[n], on_loss[n], by_first, of_first[n, j], first_signs[n, j], A, moved, first[n, j])


@kernel
def rows(J: Array, on_loss: Array, by: Array, gram: Array, signs: Array, out: Array) -> None:
    """The rows of gates: ∂s/∂a or ∂s/∂r as `by`, inner products (N, G·C, T, T), signs and out (N, G·C, draws, T).

    As `follow` with one row to a matrix, of all matrices at once: A is (Q, G·C·draws).
    """
    N, T, S, G, C = by.shape
    Q, draws = on_loss.shape[2], signs.shape[2]
    K = G * C * draws
    A, moved = np.empty((Q, K), by.dtype), np.empty((Q, K), by.dtype)
    weight, inverse = np.empty((T, K), by.dtype), np.empty((T, K), by.dtype)  # c p2 and c/p2
    gain, decay = np.empty((T, K), by.dtype), np.empty((T, K), by.dtype)
    square, norm, p1_inverse = np.empty(K, by.dtype), np.empty(K, by.dtype), np.empty(K, by.dtype)
    shares = np.empty((K, T), by.dtype)
    for n in range(N):
        for row in range(G * C):
            g, i = row // C, row % C
            for t in range(T):
                of_D = by[n, 0, 0, 0, 0] * 0.0
                for k in range(S):
                    of_D += by[n, t, k, g, i] * by[n, t, k, g, i]
                p2, p2_inverse = balanced(math.sqrt(of_D), math.sqrt(gram[n, row, t, t]))
                for d in range(draws):
                    sign = signs[n, row, d, t]
                    weight[t, row * draws + d], inverse[t, row * draws + d] = sign * p2, sign * p2_inverse
        A[:], square[:], shares[:], gain[:] = 0.0, 0.0, 0.0, 0.0
        for t in range(T):
            multiply(J[n, t], A, moved)
            norm[:] = 0.0
            for q in range(Q):
                for c in range(K):
                    norm[c] += moved[q, c] * moved[q, c]
            for c in range(K):
                grown = scale_of(norm[c], square[c], weight[t, c], gram[n, c // draws, t], shares[c], t)
                p1_inverse[c], decay[t, c], square[c] = grown
            for q in range(Q):
                loss = on_loss[n, t, q]
                for c in range(K):
                    A[q, c] = p1_inverse[c] * moved[q, c]
                if q < S * C:
                    for c in range(q % C * draws, K, C * draws):
                        local = by[n, t, q // C, c // (C * draws), q % C]
                        for d in range(c, c + draws):
                            A[q, d] = p1_inverse[d] * moved[q, d] + inverse[t, d] * local
                for c in range(K):
                    gain[t, c] += loss * A[q, c]
        for t in range(T - 2, -1, -1):
            for c in range(K):
                gain[t, c] += decay[t + 1, c] * gain[t + 1, c]
        for c in range(K):
            for t in range(T):
                out[n, c // draws, c % draws, t] = gain[t, c] * weight[t, c]


FAST = {"kf-rtrl": KFRTRL()}
