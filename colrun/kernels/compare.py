"""All gradients of a batch, kept (`gradients`) or compared with the first of them column by column (`compare`).

E credits: a, r (E, N, G·C, T), and whether each crosses columns. `x` is (N, T, inputs), `h_tm1` (N, T, C),
`z` (N, C, T, W+1) with a 1 at the end, `f` (N, C, T, W), `B` (N, C, W, W). `linked`: there is R; `biased`: there is q.
"""

import numpy as np

from colrun.kernels import Array, Laterals, kernel, sums
from colrun.kernels import columns as column

FIRST, SECOND, OWN, LATERAL, RECURRENT = range(5)
"""Groups of weights: A and b, B and c, U_ii and q, U_ij, R."""
GROUPS = 5


@kernel
def see(x: Array, h_tm1: Array, j: int, stateful: bool, seen: Array) -> None:
    """What multiplies the first layer of column j: x, h_j(t-1) where it is seen, and 1."""
    T, inputs = x.shape
    for t in range(T):
        if j == 0:
            for i in range(inputs):
                seen[t, i] = x[t, i]
            seen[t, seen.shape[1] - 1] = 1.0
        if stateful:
            seen[t, inputs] = h_tm1[t, j]


@kernel
def compare(
    a: Array, r: Array, crosses: Array, known: Array, layers: Array, laterals: Laterals, R_exists: Array,
    linked: bool, biased: bool, stateful: bool,
    x: Array, h_tm1: Array, z: Array, f: Array, B: Array, threshold: float, of_truth: Array, of_estimates: Array,
) -> None:  # fmt: skip
    """Sums of the first gradient, of_truth (N, groups, 3), and of each other, of_estimates (N, E-1, groups, 6).

    Where `known` is not -1 it is the place of a credit in `layers`, (K, 2, N, C, W, T): of second and first layers.
    """
    E, N, GC, T = a.shape
    C, W = f.shape[1], f.shape[3]
    G = GC // C
    K = x.shape[2] + (2 if stateful else 1)
    most = np.max(laterals.starts[:, 1:] - laterals.starts[:, :-1])
    seen, rooms = np.empty((T, K), f.dtype), np.empty((4, W, T), f.dtype)
    second_credit, first_credit, f_turned, z_turned = rooms[0], rooms[1], rooms[2], rooms[3]
    # Each twice: for the truth, which stays while the estimates go by, and for one estimate.
    first, second, own = np.empty((2, W, K), f.dtype), np.empty((2, W, W + 1), f.dtype), np.empty((2, G, W), f.dtype)
    listed, whole = np.empty((2, most), f.dtype), np.empty((2, GC, W), f.dtype)
    recurrent, bias = np.empty((2, GC, C), f.dtype), np.empty((2, GC), f.dtype)
    flat_first, flat_second, flat_own = first.reshape(2, W * K), second.reshape(2, W * (W + 1)), own.reshape(2, G * W)
    flat_whole, flat_recurrent = whole.reshape(2, GC * W), recurrent.reshape(2, GC * C)
    for n in range(N):
        for j in range(C):
            see(x[n], h_tm1[n], j, stateful, seen)
            f_j, z_j, B_j = f[n, j], z[n, j], B[n, j]
            column.turn(f_j, f_turned)
            column.turn(z_j, z_turned)
            count = laterals.starts[n, j + 1] - laterals.starts[n, j]
            for e in range(E):
                here = min(e, 1)
                if known[e] >= 0:
                    given = layers[known[e]]
                    np.dot(given[0, n, j], z_j, second[here])
                    np.dot(given[1, n, j], seen, first[here])
                else:
                    column.credit_of_features(a[e, n], crosses[e], laterals, n, j, f_turned, second_credit)
                    column.gradient_of_layers(
                        second_credit, B_j, z_j, z_turned, seen, first_credit, first[here], second[here]
                    )
                if laterals.listed:
                    column.gradient_of_own(a[e, n], j, C, f_turned, own[here])
                    column.gradient_of_listed(a[e, n], laterals, n, j, f_turned, listed[here])
                else:
                    column.gradient_of_whole(a[e, n], laterals, n, j, f_j, whole[here])
                sums.add(flat_first, 0, W * K, threshold, of_truth, of_estimates, n, e, FIRST)
                sums.add(flat_second, 0, W * (W + 1), threshold, of_truth, of_estimates, n, e, SECOND)
                if laterals.listed:
                    sums.add(flat_own, 0, G * W, threshold, of_truth, of_estimates, n, e, OWN)
                    sums.add(listed, 0, count, threshold, of_truth, of_estimates, n, e, LATERAL)
                    continue
                for g in range(G):
                    begin, ours, end = g * C * W, (g * C + j) * W, (g + 1) * C * W
                    sums.add(flat_whole, begin, ours, threshold, of_truth, of_estimates, n, e, LATERAL)
                    sums.add(flat_whole, ours, ours + W, threshold, of_truth, of_estimates, n, e, OWN)
                    sums.add(flat_whole, ours + W, end, threshold, of_truth, of_estimates, n, e, LATERAL)
        for e in range(E):
            here = min(e, 1)
            if linked:
                column.gradient_of_recurrence(r[e, n], h_tm1[n], R_exists[n], recurrent[here])
                sums.add(flat_recurrent, 0, GC * C, threshold, of_truth, of_estimates, n, e, RECURRENT)
            if biased:
                column.gradient_of_bias(a[e, n], bias[here])
                sums.add(bias, 0, GC, threshold, of_truth, of_estimates, n, e, OWN)


@kernel
def gradients(
    a: Array, r: Array, crosses: bool, laterals: Laterals, R_exists: Array, linked: bool, stateful: bool,
    x: Array, h_tm1: Array, z: Array, f: Array, B: Array,
    first: Array, second: Array, U: Array, R: Array, q: Array,
) -> None:  # fmt: skip
    """Of one credit, a and r (N, G·C, T): first (N, C, W, …), second (N, C, W, W+1), U (N, C, G·C, W) by source column
    with zeros on entry, R (N, G·C, C), q (N, G·C)."""
    N, GC, T = a.shape
    C, W = f.shape[1], f.shape[3]
    G = GC // C
    seen, rooms = np.empty((T, first.shape[3]), f.dtype), np.empty((4, W, T), f.dtype)
    second_credit, first_credit, f_turned, z_turned = rooms[0], rooms[1], rooms[2], rooms[3]
    own, listed = np.empty((G, W), f.dtype), np.empty(laterals.value.size, f.dtype)
    for n in range(N):
        for j in range(C):
            see(x[n], h_tm1[n], j, stateful, seen)
            column.turn(f[n, j], f_turned)
            column.turn(z[n, j], z_turned)
            column.credit_of_features(a[n], crosses, laterals, n, j, f_turned, second_credit)
            column.gradient_of_layers(
                second_credit, B[n, j], z[n, j], z_turned, seen, first_credit, first[n, j], second[n, j]
            )
            if not laterals.listed:
                column.gradient_of_whole(a[n], laterals, n, j, f[n, j], U[n, j])
                continue
            column.gradient_of_own(a[n], j, C, f_turned, own)
            column.gradient_of_listed(a[n], laterals, n, j, f_turned, listed)
            for g in range(G):
                U[n, j, g * C + j] = own[g]
            start = laterals.starts[n, j]
            for m in range(start, laterals.starts[n, j + 1]):
                U[n, j, laterals.gate[m] * C + laterals.to[m], laterals.unit[m]] = listed[m - start]
        if linked:
            column.gradient_of_recurrence(r[n], h_tm1[n], R_exists[n], R[n])
        column.gradient_of_bias(a[n], q[n])
