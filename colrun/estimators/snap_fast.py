"""The fast form of snap: see snap.py. Credits of all groups in one pass back for each order.

Groups that track the same states have the same credit, so that it is found once for each set. Of one network: Q sets
(Q, P) and, of w, (Q, C); `which` (2 + W, C) is the set of every group (reach.py); J (T, P, P), h and w (T, C), δ and α
(T,).
"""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine import columns as column
from colrun.engine.forms import Credit, FastForm, Gradients, PreactivationCredit
from colrun.engine.laterals import Laterals
from colrun.engine.run import Run
from colrun.estimators.reach import FIRST, ROWS, U, tracked


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
    """From the sets (N, 2 + W, C, C) of all groups."""
    N, C, T, W = run.f.shape
    S, dtype = run.s.shape[2], run.h.dtype
    second, first = np.empty((N, C, W, T), dtype), np.empty((N, C, W, T), dtype)
    a, r = np.empty(run.a.shape, dtype), np.empty(run.a.shape, dtype)
    by_a, by_r, _ = run.partials
    for n in range(N):
        different, which = distinct(sets[n].reshape(-1, C))
        kept_w = different if order == 1 else np.ones_like(different)
        follow(
            run.J[n], run.h[n], run.w[n], run.delta[n], run.learns, run.rate[n], np.tile(different, (1, S)), kept_w,
            which.reshape(2 + W, C), by_a[n], by_r[n], run.laterals, n, run.z[n], run.f[n], run.batch.layers.B[n],
            a[n], r[n], second[n], first[n],
        )  # fmt: skip
    return PreactivationCredit(a, r, second, first)


def distinct(sets: Array) -> tuple[Array, Array]:
    """The different ones among them, and which of these each is."""
    packed = np.ascontiguousarray(np.packbits(sets, axis=1))
    _, first, which = np.unique(packed.view(f"V{packed.shape[1]}")[:, 0], return_index=True, return_inverse=True)
    return sets[first], which


@kernel
def pull_back(
    J: Array, h: Array, w: Array, delta: Array, learns: bool, rate: Array, t: int, kept: Array, kept_w: Array,
    lam: Array, mu: Array, room: Array,
) -> None:  # fmt: skip
    """λ (Q, P) and μ (Q, C) of step t from those of step t+1, in place: work on the states of each set alone."""
    T, C = h.shape
    Q, P = kept.shape
    alpha = rate[t]
    for q in range(Q):
        for p in range(P):
            room[p] = -delta[t] * w[t, p] if p < C else 0.0
        if t + 1 < T:
            for p in range(P):
                if kept[q, p]:
                    credit = lam[q, p]
                    for k in range(P):
                        room[k] += credit * J[t + 1, p, k]
        if learns:
            h_mu = mu[q, 0] * 0.0
            for i in range(C):
                h_mu += h[t, i] * mu[q, i]
            for i in range(C):
                room[i] += alpha * (delta[t] * mu[q, i] - w[t, i] * h_mu)
                mu[q, i] = mu[q, i] - h[t, i] * (delta[t] + alpha * h_mu) if kept_w[q, i] else 0.0
        for p in range(P):
            lam[q, p] = room[p] if kept[q, p] else 0.0


@kernel
def of_rows(
    lam: Array, which: Array, by_a: Array, laterals: Laterals, n: int, f: Array, t: int, gates: Array, second: Array
) -> None:
    """Of the second layers at step t, by row: second (C, W, T). `gates` (Q, G·C) is room to work in."""
    _, S, G, C = by_a.shape
    W = f.shape[2]
    for q in range(gates.shape[0]):
        for g in range(G):
            for i in range(C):
                total = lam[q, i] * by_a[t, 0, g, i]
                for k in range(1, S):
                    total += lam[q, k * C + i] * by_a[t, k, g, i]
                gates[q, g * C + i] = total
    for j in range(C):
        for v in range(W):
            q, total = which[v, j], f[0, 0, 0] * 0.0
            if laterals.listed:
                for g in range(G):
                    total += gates[q, g * C + j] * laterals.own[n, g, j, v]
            else:
                for i in range(G * C):
                    total += gates[q, i] * laterals.whole[n, j, i, v]
            second[j, v, t] = total
        if laterals.listed:
            for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
                v = laterals.unit[m]
                second[j, v, t] += gates[which[v, j], laterals.gate[m] * C + laterals.to[m]] * laterals.value[m]
        for v in range(W):
            second[j, v, t] = second[j, v, t] if f[j, t, v] > 0.0 else 0.0


@kernel
def follow(
    J: Array, h: Array, w: Array, delta: Array, learns: bool, rate: Array, kept: Array, kept_w: Array, which: Array,
    by_a: Array, by_r: Array, laterals: Laterals, n: int, z: Array, f: Array, B: Array,
    a: Array, r: Array, second: Array, first: Array,
) -> None:  # fmt: skip
    """Of network n, down to the pre-activations: u_i takes its credit of state i, the features of column i that of
    every state they enter, by the set of the first layer for A_i and b_i, by that of the row for B_i and c_i."""
    T, _, G, C = by_a.shape
    W, (Q, P), dtype = f.shape[2], kept.shape, f.dtype
    lam, mu = np.zeros((Q, P), dtype), np.zeros((Q, C), dtype)
    room, entering = np.empty(P, dtype), np.empty((Q, G * C), dtype)
    own, features = np.empty((T, P), dtype), np.empty((C, T, P), dtype)
    for t in range(T - 1, -1, -1):
        pull_back(J, h, w, delta, learns, rate, t, kept, kept_w, lam, mu, room)
        of_rows(lam, which[ROWS:], by_a, laterals, n, f, t, entering, second)
        for p in range(P):
            own[t, p] = lam[which[U, p % C], p]
            for i in range(C):
                features[i, t, p] = lam[which[FIRST, i], p]
    gates, credit = np.empty((G * C, T), dtype), np.empty((W, T), dtype)
    f_turned, z_turned = np.empty((W, T), dtype), np.empty((W, T), dtype)
    for out, by in ((a, by_a), (r, by_r)):
        column.credit_of_gates(own, by, gates)
        for t in range(T):
            for g in range(G):
                for i in range(C):
                    out[t, g, i] = gates[g * C + i, t]
    for i in range(C):
        column.credit_of_gates(features[i], by_a, gates)
        column.turn(f[i], f_turned)
        column.turn(z[i], z_turned)
        column.credit_of_features(gates, True, laterals, n, i, f_turned, credit)
        np.dot(B[i].T, credit, first[i])
        column.mask(first[i], z_turned)


FAST = {"snap": SnAp()}
