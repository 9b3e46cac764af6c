"""All gradients of a batch, compared with the first of them column by column.

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
TILE = 12
"""Rows of a product are computed in tiles of 4, 6 or 12; rows of another tile get the same bits wherever they stand."""


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
def differing(one: Array, other: Array) -> int:
    """The step after the last in which two credits (T, P) differ."""
    T, P = one.shape
    for t in range(T - 1, -1, -1):
        for p in range(P):
            if one[t, p] != other[t, p]:
                return t + 1
    return 0


@kernel
def enter_gates(
    credits: Array, by_a: Array, by_r: Array, crosses: Array, known: Array, gates: Array, n: int,
    a: Array, r: Array, steps: Array, onto: Array,
) -> None:  # fmt: skip
    """Credits of what enters the gates of network n: a, r (E, G·C·T) hold (G·C, steps) of each.

    A credit that is the truth's in a quarter of the steps or more, the last ones, becomes its difference to it, `onto`
    which the truth's gradient is added: a window of T-BPTT then costs as much as the steps that it does not cover.
    """
    E, _, T, P = credits.shape
    GC = a.shape[1] // T
    difference = np.empty((T, P), credits.dtype)
    for e in range(E):
        steps[e], onto[e] = T, False
        if known[e] >= 0:
            column.turn(gates[known[e], 0, n], a[e].reshape(GC, T))
            column.turn(gates[known[e], 1, n], r[e].reshape(GC, T))
            continue
        states = credits[e, n]
        if e > 0 and crosses[e]:
            different = differing(credits[0, n], states)
            if 4 * different <= 3 * T:
                steps[e], onto[e] = different, True
                for t in range(different):
                    for p in range(P):
                        difference[t, p] = states[t, p] - credits[0, n, t, p]
                states = difference
        count = GC * steps[e]
        column.credit_of_gates(states, by_a[n], a[e, :count].reshape(GC, steps[e]))
        column.credit_of_gates(states, by_r[n], r[e, :count].reshape(GC, steps[e]))


@kernel
def credit_of_column(
    a: Array, e: int, crosses: Array, known: Array, layers: Array, laterals: Laterals, n: int, j: int,
    f: Array, z: Array, B: Array, own: column.Own, units: column.Units, number: int, second: Array, first: Array,
) -> None:  # fmt: skip
    """Credits of both layers of column j, (W, steps) each: f, z (W, T) are turned."""
    if known[e] >= 0:
        second[:] = layers[known[e], 0, n, j]
        first[:] = layers[known[e], 1, n, j]
    elif laterals.listed:
        column.credit_of_layers(a, crosses[e], laterals, n, j, f, z, B, own, units, number, second, first)
    else:
        column.credit_of_features(a, crosses[e], laterals, n, j, f, second)
        column.product(B.T, second, first)
        column.mask(first, z)


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

    A product of few rows takes longer per row. So narrow columns are taken several at a time, which is a matter of the
    shape alone, and credits of all steps are multiplied together: each has whole tiles of rows, so that an estimate
    does not depend on which others there are.
    """
    E, N, T, _ = credits.shape
    inputs, C, W, G = x.shape[2], f.shape[1], f.shape[3], by_a.shape[3]
    GC, dtype = G * C, f.dtype
    a, r = np.empty((E, GC * T), dtype), np.empty((E, GC * T), dtype)
    steps, onto = np.empty(E, np.int64), np.empty(E, np.bool_)
    most = min(max(ROWS // W, 1), C)
    rows, K = (most * W + TILE - 1) // TILE * TILE, inputs + (most if stateful else 0) + 1
    seen, turned = np.empty((T, K), dtype), np.empty((2, most * W, T), dtype)
    f_turned, z_turned = turned[0], turned[1]
    through_own = column.Own(np.empty((G, most * W, T), dtype), np.empty((G, most * W, T), dtype))
    units = column.Units(
        np.empty(most, np.int64), np.empty((most, W), np.int64), np.empty((most, W, W), dtype),
        np.empty(W * T, dtype), np.empty(W * T, dtype),
    )  # fmt: skip
    # Of all credits over all steps, and of one over fewer: the last place.
    second_credit, first_credit = np.zeros((E + 1, rows, T), dtype), np.zeros((E + 1, rows, T), dtype)
    first, second = np.empty((E + 1, rows, K), dtype), np.empty((E + 1, rows, W + 1), dtype)
    # Each twice: for the truth, which stays while the estimates go by, and for one estimate.
    own, whole = np.empty((2, most * G, W), dtype), np.empty((2, most * GC, W), dtype)
    listed = np.empty((2, np.max(laterals.starts[:, C] - laterals.starts[:, 0])), dtype)
    recurrent, bias = np.empty((2, GC, C), dtype), np.empty((2, GC), dtype)
    flat_first, flat_second = first.reshape(E + 1, rows * K), second.reshape(E + 1, rows * (W + 1))
    flat_own, flat_whole = own.reshape(2, most * G * W), whole.reshape(2, most * GC * W)
    flat_recurrent = recurrent.reshape(2, GC * C)
    for n in range(N):
        enter_gates(credits, by_a, by_r, crosses, known, gates, n, a, r, steps, onto)
        for start in range(0, C, most):
            stop = min(start + most, C)
            columns = stop - start
            see(x[n], h_tm1[n], start, stop, stateful, seen)
            for j in range(start, stop):
                here = slice((j - start) * W, (j - start + 1) * W)
                column.turn(f[n, j], f_turned[here])
                column.turn(z[n, j], z_turned[here])
                if laterals.listed:
                    column.through_own(laterals, n, j, f_turned[here], z_turned[here], B[n, j], through_own, j - start)
                    column.gather_units(laterals, n, j, B[n, j], units, j - start)
            together = 0
            for e in range(E):
                if onto[e]:
                    continue
                for j in range(start, stop):
                    here = slice((j - start) * W, (j - start + 1) * W)
                    credit_of_column(
                        a[e].reshape(GC, T), e, crosses, known, layers, laterals, n, j, f_turned[here], z_turned[here],
                        B[n, j], through_own, units, j - start, second_credit[together, here],
                        first_credit[together, here],
                    )  # fmt: skip
                    if most > 1:
                        np.dot(second_credit[together, here], z[n, j], second[together, here])
                together += 1
            joined = together * rows
            if most == 1:
                np.dot(
                    second_credit.reshape(-1, T)[:joined], z[n, start], second.reshape(-1, W + 1)[:joined]
                )  # fmt: skip
            np.dot(first_credit.reshape(-1, T)[:joined], seen, first.reshape(-1, K)[:joined])
            place = 0
            for e in range(E):
                one, Te, at = min(e, 1), steps[e], E if onto[e] else place
                a_e = a[e, : GC * Te].reshape(GC, Te)
                if onto[e]:
                    short_second = second_credit[E].reshape(-1)[: columns * W * Te].reshape(columns * W, Te)
                    short_first = first_credit[E].reshape(-1)[: columns * W * Te].reshape(columns * W, Te)
                    for j in range(start, stop):
                        here = slice((j - start) * W, (j - start + 1) * W)
                        credit_of_column(
                            a_e, e, crosses, known, layers, laterals, n, j, f_turned[here], z_turned[here], B[n, j],
                            through_own, units, j - start, short_second[here], short_first[here],
                        )  # fmt: skip
                        column.product(short_second[here], z[n, j][:Te], second[E, here])
                    column.product(short_first, seen[:Te], first[E, : columns * W])
                else:
                    place += 1
                for j in range(start, stop):
                    here = slice((j - start) * W, (j - start + 1) * W)
                    if laterals.listed:
                        column.gradient_of_own(
                            a_e, j, C, f_turned[here], own[one, (j - start) * G : (j - start + 1) * G]
                        )
                        begin = laterals.starts[n, j] - laterals.starts[n, start]
                        column.gradient_of_listed(a_e, laterals, n, j, f_turned[here], listed[one, begin:])
                    else:
                        column.gradient_of_whole(
                            a_e, laterals, n, j, f[n, j][:Te], whole[one, (j - start) * GC : (j - start + 1) * GC]
                        )
                if stateful and most > 1:
                    forget_others(inputs, columns, most, W, first[at])
                add = onto[e]
                sums.add(flat_first, at, 0, columns * W * K, add, threshold, of_truth, of_estimates, n, e, FIRST)
                sums.add(
                    flat_second, at, 0, columns * W * (W + 1), add, threshold, of_truth, of_estimates, n, e, SECOND
                )
                if laterals.listed:
                    count = laterals.starts[n, stop] - laterals.starts[n, start]
                    sums.add(flat_own, one, 0, columns * G * W, add, threshold, of_truth, of_estimates, n, e, OWN)
                    sums.add(listed, one, 0, count, add, threshold, of_truth, of_estimates, n, e, LATERAL)
                    continue
                for j in range(start, stop):
                    for g in range(G):
                        begin = ((j - start) * GC + g * C) * W
                        ours, end = begin + j * W, begin + C * W
                        sums.add(flat_whole, one, begin, ours, add, threshold, of_truth, of_estimates, n, e, LATERAL)
                        sums.add(flat_whole, one, ours, ours + W, add, threshold, of_truth, of_estimates, n, e, OWN)
                        sums.add(flat_whole, one, ours + W, end, add, threshold, of_truth, of_estimates, n, e, LATERAL)
        for e in range(E):
            one, Te = min(e, 1), steps[e]
            if linked:
                r_e = r[e, : GC * Te].reshape(GC, Te)
                column.gradient_of_recurrence(r_e, h_tm1[n][:Te], R_exists[n], recurrent[one])
                sums.add(flat_recurrent, one, 0, GC * C, onto[e], threshold, of_truth, of_estimates, n, e, RECURRENT)
            if biased:
                column.gradient_of_bias(a[e, : GC * Te].reshape(GC, Te), bias[one])
                sums.add(bias, one, 0, GC, onto[e], threshold, of_truth, of_estimates, n, e, OWN)
