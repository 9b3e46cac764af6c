"""What the fast forms of uoro and nobacktrack share: see rank_one.py.

‖θ̃(t)‖ follows from the inner products of the local gradients (engine/grams.py), so nothing is as large as θ.
"""

import math

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine import columns as column
from colrun.engine.laterals import Laterals
from colrun.engine.run import Run
from colrun.estimators.learner_fast import balanced, learner_jacobian, learner_loss


def local_gram(run: Run, weights: Array) -> Array:
    """(N, D, T, T): inner products of m(t)ᵀ ∂s(t)/∂θ between steps, for weights m (N, D, T, P)."""
    N, D, T, _ = weights.shape
    out = np.zeros((N, D, T, T), weights.dtype)
    by_a, by_r, _ = run.partials
    add_gram(weights, by_a, by_r, run.laterals, run.batch.layers.B, run.z, run.f, *run.grams, out)
    return out


@kernel
def add_rows(credit: Array, gram: Array, out: Array) -> None:
    """Rows of gates, each with inputs of its own: credit (K, T), gram (K, T, T), out (T, T)."""
    K, T = credit.shape
    for k in range(K):
        for t in range(T):
            here = credit[k, t]
            for u in range(T):
                out[t, u] += here * credit[k, u] * gram[k, t, u]


@kernel
def add_layer(credit: Array, gram: Array, product: Array, out: Array) -> None:
    """A layer of a column, whose units share their inputs: credit (W, T), gram, product and out (T, T)."""
    T = out.shape[0]
    np.dot(credit.T, credit, product)
    for t in range(T):
        for u in range(T):
            out[t, u] += product[t, u] * gram[t, u]


@kernel
def add_gram(
    weights: Array, by_a: Array, by_r: Array, laterals: Laterals, B: Array, z: Array, f: Array,
    of_first: Array, of_second: Array, of_a: Array, of_r: Array, out: Array,
) -> None:  # fmt: skip
    """Down to the pre-activations, draw by draw, and times the inner products of what they multiply."""
    N, D, T, _ = weights.shape
    G, C, W = by_a.shape[3], by_a.shape[4], f.shape[3]
    a, r, product = np.empty((D, G * C, T), f.dtype), np.empty((G * C, T), f.dtype), np.empty((T, T), f.dtype)
    rooms = np.empty((4, W, T), f.dtype)
    second, first, f_turned, z_turned = rooms[0], rooms[1], rooms[2], rooms[3]
    for n in range(N):
        for d in range(D):
            column.credit_of_gates(weights[n, d], by_a[n], a[d])
            column.credit_of_gates(weights[n, d], by_r[n], r)
            add_rows(a[d], of_a[n], out[n, d])
            add_rows(r, of_r[n], out[n, d])
        for j in range(C):
            column.turn(f[n, j], f_turned)
            column.turn(z[n, j], z_turned)
            for d in range(D):
                column.credit_of_features(a[d], True, laterals, n, j, f_turned, second)
                add_layer(second, of_second[n, j], product, out[n, d])
                np.dot(B[n, j].T, second, first)
                column.mask(first, z_turned)
                add_layer(first, of_first[n, j], product, out[n, d])


def rank_one_credits(run: Run, into_state: Array, into_theta: Array, gram: Array, own_exactly: bool) -> list[Array]:
    """c (N, T, P) of each draw from n and m, both (N, D, T, P), and the inner products (N, D, T, T) of mᵀ ∂s/∂θ.

    `own_exactly`: whether each loss credits its own step by ∂L(t)/∂s(t) itself, and earlier ones by the pair before it.
    """
    jacobian, on_loss = learner_jacobian(run), learner_loss(run)
    kappa = np.empty(into_state.shape[:3], into_state.dtype)
    follow(jacobian, on_loss, into_state, gram, own_exactly, kappa)
    credit = into_theta * kappa[..., None]
    if own_exactly:
        credit += on_loss[:, None, :, : into_state.shape[3]]
    return list(credit.swapaxes(0, 1))


@kernel
def follow(jacobian: Array, on_loss: Array, into_state: Array, gram: Array, own_exactly: bool, kappa: Array) -> None:
    """κ (N, D, T): 𝒥 (N, T, Q, Q), ∂L/∂τ (N, T, Q)."""
    N, D, T, P = into_state.shape
    Q = on_loss.shape[2]
    tangent, moved = np.empty(Q, gram.dtype), np.empty(Q, gram.dtype)
    shares, decay = np.empty(T, gram.dtype), np.empty(T, gram.dtype)  # of the local gradients in θ̃; 1/ρ0
    gain = np.empty(T, gram.dtype)
    for n in range(N):
        for d in range(D):
            tangent[:] = 0.0
            square = gram[n, d, 0, 0] * 0.0  # ‖θ̃‖²
            for t in range(T):
                norm = square * 0.0
                for q in range(Q):
                    total = norm * 0.0
                    for p in range(Q):
                        total += jacobian[n, t, q, p] * tangent[p]
                    moved[q] = total
                    norm += total * total
                rho, inverse = balanced(math.sqrt(square), math.sqrt(norm))
                reached = norm * 0.0
                for q in range(Q):
                    tangent[q] = rho * moved[q] + (into_state[n, d, t, q] if q < P else 0.0)
                    reached += (moved[q] if own_exactly else tangent[q]) * on_loss[n, t, q]
                gain[t] = reached
                cross = norm * 0.0
                for u in range(t):
                    shares[u] *= inverse
                    cross += shares[u] * gram[n, d, t, u]
                square = inverse * inverse * square + 2.0 * cross + gram[n, d, t, t]
                square = 0.0 if square < 0.0 else square  # NaN stays
                shares[t] = 1.0
                decay[t] = inverse
            after = gram[n, d, 0, 0] * 0.0
            for t in range(T - 1, -1, -1):
                if own_exactly:
                    kappa[n, d, t] = after
                    after = gain[t] + decay[t] * after
                else:
                    after = gain[t] + after
                    kappa[n, d, t] = after
                    after *= decay[t]
