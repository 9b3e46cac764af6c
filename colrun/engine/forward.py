"""The forward run: the part that must go step by step."""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.cells import LANES, update
from colrun.engine.laterals import Laterals


@kernel
def features(
    pre_x: Array, A_h: Array, B_t: Array, c: Array, h_tm1: Array, z: Array, f: Array, t: int,
    total: Array, active: Array, height: Array,
) -> None:  # fmt: skip
    """z and f of all columns at step t: pre_x (C, T, W) holds A x + b, B_t (C, W, W) is B transposed.

    About half of the units are silent. The weights of the others are added up four rows at a time. The last three
    arrays are room to work in.
    """
    C, _, W = pre_x.shape
    for number in range(C):
        i = number if t % 2 == 0 else C - 1 - number  # back and forth: what was used last is still in cache
        h = h_tm1[i]
        for v in range(W):
            pre = pre_x[i, t, v] + A_h[i, v] * h
            z[i, t, v] = pre if pre > 0.0 else 0.0
        if W < 16:  # too few to be worth the choice
            for k in range(W):
                pre = c[i, k]
                for v in range(W):
                    pre += B_t[i, v, k] * z[i, t, v]
                f[i, t, k] = pre if pre > 0.0 else 0.0
            continue
        count = 0
        for v in range(W):
            total[v] = c[i, v]
            active[count] = v
            height[count] = z[i, t, v]
            count += z[i, t, v] != 0.0  # NaN counts: a network that diverged must show it
        for n in range(count, (count + 3) // 4 * 4):
            active[n] = 0
            height[n] = 0.0
        for n in range(0, count, 4):
            v0, v1, v2, v3 = active[n], active[n + 1], active[n + 2], active[n + 3]
            z0, z1, z2, z3 = height[n], height[n + 1], height[n + 2], height[n + 3]
            for k in range(W):
                total[k] += B_t[i, v0, k] * z0 + B_t[i, v1, k] * z1 + B_t[i, v2, k] * z2 + B_t[i, v3, k] * z3
        for v in range(W):
            f[i, t, v] = total[v] if total[v] > 0.0 else 0.0


@kernel
def from_whole(whole: Array, f: Array, t: int, a: Array) -> None:
    """a(t) += U f(t) with all of U by source column, (C, G·C, W); f is (C, T, W), a (T, G, C)."""
    C, GC, W = whole.shape
    for j in range(C):
        for i in range(GC):
            part = a[t, 0, 0] * 0.0
            for v in range(W):
                part += whole[j, i, v] * f[j, t, v]
            a[t, i // C, i % C] += part


@kernel
def from_whole_at_once(whole: Array, f: Array, q: Array, room: Array, a: Array) -> None:
    """The same for all steps, where features are known beforehand; q is (G, C), room (T, G·C)."""
    T, G, C = a.shape
    for j in range(C):
        np.dot(f[j], whole[j].T, room)
        for t in range(T):
            for g in range(G):
                for i in range(C):
                    a[t, g, i] = room[t, g * C + i] + (q[g, i] if j == 0 else a[t, g, i])


@kernel
def from_own(U_own: Array, f: Array, t: int, a: Array) -> None:
    """a(t) += U f(t) with the own weights (G, C, W)."""
    G, C, W = U_own.shape
    for g in range(G):
        for i in range(C):
            part = a[t, g, i] * 0.0
            for v in range(W):
                part += U_own[g, i, v] * f[i, t, v]
            a[t, g, i] += part


@kernel
def from_listed(laterals: Laterals, n: int, f: Array, t: int, a: Array) -> None:
    """a(t) += U f(t) with the listed lateral weights of network n."""
    for j in range(f.shape[0]):
        for m in range(laterals.starts[n, j], laterals.starts[n, j + 1]):
            a[t, laterals.gate[m], laterals.to[m]] += laterals.value[m] * f[j, t, laterals.unit[m]]


@kernel
def recurrence(R: Array, s: Array, t: int, r: Array) -> None:
    """r(t) = R h(t-1): R (G, C, C), s (T+1, S, C) with h first, r (T, G, C)."""
    G, C, _ = R.shape
    for g in range(G):
        for i in range(C):
            total = s[t, 0, 0] * 0.0
            for j in range(C):
                total += R[g, i, j] * s[t, 0, j]
            r[t, g, i] = total


@kernel
def run(
    cell: int, stateful: bool, alpha: float,
    pre_x: Array, A_h: Array, B_t: Array, c: Array, laterals: Laterals,
    R: Array, q: Array, y: Array, counted: Array,
    z: Array, f: Array, a: Array, r: Array, s: Array, w: Array, delta: Array,
) -> None:  # fmt: skip
    """All networks, all steps.

    `stateful`: columns see their state, so z and f are found here; otherwise they are there already. s (N, T+1, S, C)
    and w (N, T+1, C) hold s(0) and w(0) on entry; `alpha` is 0 where w does not learn. A step that is not `counted` has
    no error, and w stands still.
    """
    N, T = y.shape
    G, C, W = q.shape[1], q.shape[2], f.shape[3]
    total, active, height = np.empty(W, f.dtype), np.empty(W + 4, np.int64), np.empty(W + 4, f.dtype)
    room, gates = np.empty((T, G * C), f.dtype), np.zeros((G, (C + LANES - 1) // LANES * LANES), f.dtype)
    for n in range(N):
        # Taken here once: a view inside the loop over steps costs as much as the arithmetic of a small network.
        pre_n, A_n, B_n, c_n, z_n, f_n = pre_x[n], A_h[n], B_t[n], c[n], z[n], f[n]
        a_n, r_n, s_n, w_n, R_n, own = a[n], r[n], s[n], w[n], R[n], laterals.own[n]
        if not stateful and not laterals.listed:
            from_whole_at_once(laterals.whole[n], f_n, q[n], room, a_n)
        for t in range(T):
            if stateful:
                features(pre_n, A_n, B_n, c_n, s_n[t, 0], z_n, f_n, t, total, active, height)
            if stateful or laterals.listed:
                for g in range(G):
                    for i in range(C):
                        a_n[t, g, i] = q[n, g, i]
                if laterals.listed:
                    from_own(own, f_n, t, a_n)
                    from_listed(laterals, n, f_n, t, a_n)
                else:
                    from_whole(laterals.whole[n], f_n, t, a_n)
            recurrence(R_n, s_n, t, r_n)
            update(cell, a_n, r_n, s_n, t, gates)
            if not counted[n, t]:
                delta[n, t] = 0.0
                for i in range(C):
                    w_n[t + 1, i] = w_n[t, i]
                continue
            error = y[n, t]
            for i in range(C):
                error -= w_n[t, i] * s_n[t + 1, 0, i]
            delta[n, t] = error
            for i in range(C):
                w_n[t + 1, i] = w_n[t, i] + alpha * error * s_n[t + 1, 0, i]
