"""The fast form of snap: see snap.py. Credits of both groups in one pass back for each order.

Of one network: the sets that are kept (2·C, P) and, of w, (2·C, C); J (T, P, P), h and w (T, C), δ and α (T,).
"""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine import columns as column
from colrun.engine.forms import Credit, FastForm, Gradients, PreactivationCredit
from colrun.engine.laterals import Laterals
from colrun.engine.run import Run
from colrun.estimators.reach import tracked


class SnAp(FastForm):
    """`window` is the order k."""

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """One pass for each order."""
        batch = run.batch
        orders = [window for window in windows if window is not None]
        sets = tracked(batch.architecture, batch.masks, orders)
        found = {order: credit_of(run, here, order) for order, here in dict(zip(orders, sets, strict=True)).items()}
        return [found[order] for order in orders]


def credit_of(run: Run, sets: Array, order: int) -> PreactivationCredit:
    """From the sets (N, 2, C, C) of u and φ."""
    N, C, T, W = run.f.shape
    S, dtype = run.s.shape[2], run.h.dtype
    groups = sets.reshape(N, 2 * C, C)
    kept = np.tile(groups, (1, 1, S)).astype(dtype)
    kept_w = (groups if order == 1 else np.ones_like(groups)).astype(dtype)
    second, first = np.empty((N, C, W, T), dtype), np.empty((N, C, W, T), dtype)
    a, r = np.empty(run.a.shape, dtype), np.empty(run.a.shape, dtype)
    by_a, by_r, _ = run.partials
    follow(
        run.J, run.h, run.w, run.delta, run.learns, run.rate, kept, kept_w, by_a, by_r, run.laterals, run.z, run.f,
        run.batch.layers.B, a, r, second, first,
    )  # fmt: skip
    return PreactivationCredit(a, r, second, first)


@kernel
def group_credits(
    J: Array, h: Array, w: Array, delta: Array, learns: bool, rate: Array, kept: Array, kept_w: Array,
    own: Array, features: Array,
) -> None:  # fmt: skip
    """c^{u_i}_i as `own` (T, P), and c^{φ_i} as `features` (C, T, P)."""
    T, C = h.shape
    Q, P = kept.shape
    lam, moved, mu = np.zeros((Q, P), own.dtype), np.zeros((Q, P), own.dtype), np.zeros((Q, C), own.dtype)
    for t in range(T - 1, -1, -1):
        if t + 1 < T:
            np.dot(lam, J[t + 1], moved)
        alpha = rate[t]
        for q in range(Q):
            for i in range(C):
                moved[q, i] -= delta[t] * w[t, i]
            if learns:
                h_mu = mu[q, 0] * 0.0
                for i in range(C):
                    h_mu += h[t, i] * mu[q, i]
                for i in range(C):
                    moved[q, i] += alpha * (delta[t] * mu[q, i] - w[t, i] * h_mu)
                    mu[q, i] = (mu[q, i] - h[t, i] * (delta[t] + alpha * h_mu)) * kept_w[q, i]
            for p in range(P):
                lam[q, p] = moved[q, p] * kept[q, p]
        for p in range(P):
            own[t, p] = lam[p % C, p]
        for i in range(C):
            for p in range(P):
                features[i, t, p] = lam[C + i, p]


@kernel
def follow(
    J: Array, h: Array, w: Array, delta: Array, learns: bool, rate: Array, kept: Array, kept_w: Array,
    by_a: Array, by_r: Array, laterals: Laterals, z: Array, f: Array, B: Array,
    a: Array, r: Array, second: Array, first: Array,
) -> None:  # fmt: skip
    """Of all networks, down to the pre-activations: u_i takes c^{u_i}_i, φ_i takes Σ_j c^{φ_i}_j ∂s_j/∂f_i."""
    N, T, S, G, C = by_a.shape
    W = f.shape[3]
    own, features = np.empty((T, S * C), f.dtype), np.empty((C, T, S * C), f.dtype)
    gates, f_turned, z_turned = np.empty((G * C, T), f.dtype), np.empty((W, T), f.dtype), np.empty((W, T), f.dtype)
    for n in range(N):
        group_credits(J[n], h[n], w[n], delta[n], learns, rate[n], kept[n], kept_w[n], own, features)
        for out, by in ((a, by_a), (r, by_r)):
            column.credit_of_gates(own, by[n], gates)
            for t in range(T):
                for g in range(G):
                    for i in range(C):
                        out[n, t, g, i] = gates[g * C + i, t]
        for i in range(C):
            column.credit_of_gates(features[i], by_a[n], gates)
            column.turn(f[n, i], f_turned)
            column.turn(z[n, i], z_turned)
            column.credit_of_features(gates, True, laterals, n, i, f_turned, second[n, i])
            np.dot(B[n, i].T, second[n, i], first[n, i])
            column.mask(first[n, i].reshape(-1), z_turned.reshape(-1), W * T)


FAST = {"snap": SnAp()}
