"""Gradients of one credit, kept; the arguments are those of compare.py."""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine import columns as column
from colrun.engine.compare import see
from colrun.engine.laterals import Laterals


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
            column.mask(first_credit, z_turned)
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
