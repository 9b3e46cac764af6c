"""All gradients of a batch, kept (`gradients`) or compared with the first of them column by column (`compare`).

E credits of states, (E, N, T, S·C), whether each crosses columns, and the partials by_a, by_r (N, T, S, G, C) that make
them credits of U f + q and of R h(t-1): a, r (G·C, T) of one network. `x` is (N, T, inputs), `h_tm1` (N, T, C),
`z` (N, C, T, W+1) with a 1 at the end, `f` (N, C, T, W), `B` (N, C, W, W). `linked`: there is R; `biased`: there is q.
"""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine import columns as column
from colrun.engine import sums
from colrun.engine.laterals import Laterals

FIRST, SECOND, OWN, LATERAL, RECURRENT = range(5)
"""Groups of weights: A and b, B and c, U_ii and q, U_ij, R."""
GROUPS = 5
ROWS = 48
"""Columns are taken together up to so many units."""


@kernel
def see(x: Array, h_tm1: Array, start: int, stop: int, stateful: bool, seen: Array) -> None:
    """What multiplies the first layer of columns from `start` to `stop`: x, their h(t-1) where it is seen, and 1."""
    T, inputs = x.shape
    for t in range(T):
        if start == 0:
            for i in range(inputs):
                seen[t, i] = x[t, i]
            for i in range(inputs, seen.shape[1] - 1):
                seen[t, i] = 0.0
            seen[t, seen.shape[1] - 1] = 1.0
        if stateful:
            for j in range(start, stop):
                seen[t, inputs + j - start] = h_tm1[t, j]


@kernel
def forget_others(inputs: int, columns: int, most: int, W: int, first: Array) -> None:
    """In the gradient of some columns' first layers, zero where one meets another's state or an empty place."""
    for j in range(columns):
        for k in range(most):
            if k != j:
                for row in range(j * W, (j + 1) * W):
                    first[row, inputs + k] = 0.0


@kernel
def compare(
    credits: Array, by_a: Array, by_r: Array, crosses: Array, known: Array, gates: Array, layers: Array,
    laterals: Laterals, R_exists: Array,
    linked: bool, biased: bool, stateful: bool,
    x: Array, h_tm1: Array, z: Array, f: Array, B: Array, threshold: float, of_truth: Array, of_estimates: Array,
) -> None:  # fmt: skip
    """Sums of the first gradient, of_truth (N, groups, 3), and of each other, of_estimates (N, E-1, groups, 6).

    Where `known` is not -1 it is the place of a credit of pre-activations in `gates`, (K, 2, N, T, G·C), a and r, and
    in `layers`, (K, 2, N, C, W, T), second and first; what `credits` holds in its place is not read.

    Narrow columns are taken several at a time, as a product of few rows takes longer per row. How many is a matter of
    the shape alone, so that an estimate does not depend on which others there are.
    """
    E, N, T, _ = credits.shape
    inputs, C, W, G = x.shape[2], f.shape[1], f.shape[3], by_a.shape[3]
    GC = G * C
    a, r = np.empty((E, GC, T), f.dtype), np.empty((E, GC, T), f.dtype)
    most = min(max(ROWS // W, 1), C)
    K = inputs + (most if stateful else 0) + 1
    seen, rooms = np.empty((T, K), f.dtype), np.empty((4, most * W, T), f.dtype)
    second_credit, first_credit, f_turned, z_turned = rooms[0], rooms[1], rooms[2], rooms[3]
    # Each twice: for the truth, which stays while the estimates go by, and for one estimate.
    first, second = np.empty((2, most * W, K), f.dtype), np.empty((2, most * W, W + 1), f.dtype)
    own, whole = np.empty((2, most * G, W), f.dtype), np.empty((2, most * GC, W), f.dtype)
    listed = np.empty((2, np.max(laterals.starts[:, C] - laterals.starts[:, 0])), f.dtype)
    recurrent, bias = np.empty((2, GC, C), f.dtype), np.empty((2, GC), f.dtype)
    flat_first, flat_second = first.reshape(2, most * W * K), second.reshape(2, most * W * (W + 1))
    flat_own, flat_whole = own.reshape(2, most * G * W), whole.reshape(2, most * GC * W)
    flat_recurrent, flat_credit, flat_z = recurrent.reshape(2, GC * C), first_credit.reshape(-1), z_turned.reshape(-1)
    for n in range(N):
        for e in range(E):
            if known[e] >= 0:
                column.turn(gates[known[e], 0, n], a[e])
                column.turn(gates[known[e], 1, n], r[e])
            else:
                column.credit_of_gates(credits[e, n], by_a[n], a[e])
                column.credit_of_gates(credits[e, n], by_r[n], r[e])
        for start in range(0, C, most):
            stop = min(start + most, C)
            columns = stop - start
            see(x[n], h_tm1[n], start, stop, stateful, seen)
            for j in range(start, stop):
                here = slice((j - start) * W, (j - start + 1) * W)
                column.turn(f[n, j], f_turned[here])
                column.turn(z[n, j], z_turned[here])
            for e in range(E):
                one, a_e = min(e, 1), a[e]
                for j in range(start, stop):
                    here = slice((j - start) * W, (j - start + 1) * W)
                    if known[e] >= 0:
                        np.dot(layers[known[e], 0, n, j], z[n, j], second[one, here])
                        first_credit[here] = layers[known[e], 1, n, j]
                    else:
                        column.credit_of_features(a_e, crosses[e], laterals, n, j, f_turned[here], second_credit[here])
                        np.dot(second_credit[here], z[n, j], second[one, here])
                        np.dot(B[n, j].T, second_credit[here], first_credit[here])
                    if laterals.listed:
                        column.gradient_of_own(
                            a_e, j, C, f_turned[here], own[one, (j - start) * G : (j - start + 1) * G]
                        )
                        begin = laterals.starts[n, j] - laterals.starts[n, start]
                        column.gradient_of_listed(a_e, laterals, n, j, f_turned[here], listed[one, begin:])
                    else:
                        column.gradient_of_whole(
                            a_e, laterals, n, j, f[n, j], whole[one, (j - start) * GC : (j - start + 1) * GC]
                        )
                if known[e] < 0:
                    column.mask(flat_credit, flat_z, columns * W * T)
                np.dot(first_credit[: columns * W], seen, first[one, : columns * W])
                if stateful and most > 1:
                    forget_others(inputs, columns, most, W, first[one])
                sums.add(flat_first, 0, columns * W * K, threshold, of_truth, of_estimates, n, e, FIRST)
                sums.add(flat_second, 0, columns * W * (W + 1), threshold, of_truth, of_estimates, n, e, SECOND)
                if laterals.listed:
                    count = laterals.starts[n, stop] - laterals.starts[n, start]
                    sums.add(flat_own, 0, columns * G * W, threshold, of_truth, of_estimates, n, e, OWN)
                    sums.add(listed, 0, count, threshold, of_truth, of_estimates, n, e, LATERAL)
                    continue
                for j in range(start, stop):
                    for g in range(G):
                        begin = ((j - start) * GC + g * C) * W
                        ours, end = begin + j * W, begin + C * W
                        sums.add(flat_whole, begin, ours, threshold, of_truth, of_estimates, n, e, LATERAL)
                        sums.add(flat_whole, ours, ours + W, threshold, of_truth, of_estimates, n, e, OWN)
                        sums.add(flat_whole, ours + W, end, threshold, of_truth, of_estimates, n, e, LATERAL)
        for e in range(E):
            one = min(e, 1)
            if linked:
                column.gradient_of_recurrence(r[e], h_tm1[n], R_exists[n], recurrent[one])
                sums.add(flat_recurrent, 0, GC * C, threshold, of_truth, of_estimates, n, e, RECURRENT)
            if biased:
                column.gradient_of_bias(a[e], bias[one])
                sums.add(bias, 0, GC, threshold, of_truth, of_estimates, n, e, OWN)


@kernel
def gradients(
    credits: Array, by_a: Array, by_r: Array, crosses: bool, laterals: Laterals, R_exists: Array,
    linked: bool, stateful: bool, x: Array, h_tm1: Array, z: Array, f: Array, B: Array,
    first: Array, second: Array, U: Array, R: Array, q: Array,
) -> None:  # fmt: skip
    """Of one credit, (N, T, S·C): first (N, C, W, …), second (N, C, W, W+1), U (N, C, G·C, W) by source column
    with zeros on entry, R (N, G·C, C), q (N, G·C)."""
    N, T, _ = credits.shape
    C, W, G = f.shape[1], f.shape[3], by_a.shape[3]
    a, r = np.empty((G * C, T), f.dtype), np.empty((G * C, T), f.dtype)
    seen, rooms = np.empty((T, first.shape[3]), f.dtype), np.empty((4, W, T), f.dtype)
    second_credit, first_credit, f_turned, z_turned = rooms[0], rooms[1], rooms[2], rooms[3]
    own, listed = np.empty((G, W), f.dtype), np.empty(laterals.value.size, f.dtype)
    for n in range(N):
        column.credit_of_gates(credits[n], by_a[n], a)
        column.credit_of_gates(credits[n], by_r[n], r)
        for j in range(C):
            see(x[n], h_tm1[n], j, j + 1, stateful, seen)
            column.turn(f[n, j], f_turned)
            column.turn(z[n, j], z_turned)
            column.credit_of_features(a, crosses, laterals, n, j, f_turned, second_credit)
            np.dot(second_credit, z[n, j], second[n, j])
            np.dot(B[n, j].T, second_credit, first_credit)
            column.mask(first_credit.reshape(-1), z_turned.reshape(-1), W * T)
            np.dot(first_credit, seen, first[n, j])
            if not laterals.listed:
                column.gradient_of_whole(a, laterals, n, j, f[n, j], U[n, j])
                continue
            column.gradient_of_own(a, j, C, f_turned, own)
            column.gradient_of_listed(a, laterals, n, j, f_turned, listed)
            for g in range(G):
                U[n, j, g * C + j] = own[g]
            start = laterals.starts[n, j]
            for m in range(start, laterals.starts[n, j + 1]):
                U[n, j, laterals.gate[m] * C + laterals.to[m], laterals.unit[m]] = listed[m - start]
        if linked:
            column.gradient_of_recurrence(r, h_tm1[n], R_exists[n], R[n])
        column.gradient_of_bias(a, q[n])
