"""Elementwise steps between the matrix products of the contraction, and the products with lists of weights."""

from colrun.kernels import Array, Listed, kernel


@kernel
def own_where_active(U_own: Array, f: Array, out: Array) -> None:
    """U_ii where f_i(t) > 0, else 0: U_own (N, G, C, W), f (columns, T, W), out (G, columns, T, W)."""
    G, columns, T, W = out.shape
    C = U_own.shape[2]
    for g in range(G):
        for m in range(columns):
            n, j = m // C, m % C
            for t in range(T):
                for v in range(W):
                    out[g, m, t, v] = U_own[n, g, j, v] if f[m, t, v] > 0.0 else 0.0


@kernel
def credit_of_features(
    a: Array, own: Array, laterals: Listed, starts: Array, crosses: bool, begin: int, f: Array, out: Array
) -> None:
    """Credit of the second layer's pre-activation through own weights and, if it crosses columns, listed laterals.

    a (N, T, G, C); own (G, all columns, T, W) as `own_where_active` leaves it; f (all columns, T, W); out (columns, T,
    W), of columns from `begin` on, counted over networks.
    """
    columns, T, W = out.shape
    G, C = a.shape[2], a.shape[3]
    value, gate, to, _, unit = laterals
    for m in range(columns):
        n, j = (begin + m) // C, (begin + m) % C
        start, stop = starts[n, j], starts[n, j + 1]
        for t in range(T):
            credit = a[n, t, 0, j]
            for v in range(W):
                out[m, t, v] = credit * own[0, begin + m, t, v]
            for g in range(1, G):
                credit = a[n, t, g, j]
                for v in range(W):
                    out[m, t, v] += credit * own[g, begin + m, t, v]
            if crosses:
                for k in range(start, stop):
                    if f[begin + m, t, unit[k]] > 0.0:
                        out[m, t, unit[k]] += a[n, t, gate[k], to[k]] * value[k]


@kernel
def by_column_where_active(credit: Array, begin: int, f: Array, out: Array) -> None:
    """credit (N, T, C, W) as (columns, T, W), columns from `begin` on, zero where the unit is silent."""
    columns, T, W = out.shape
    C = credit.shape[2]
    for m in range(columns):
        n, j = (begin + m) // C, (begin + m) % C
        for t in range(T):
            for v in range(W):
                out[m, t, v] = credit[n, t, j, v] if f[m, t, v] > 0.0 else 0.0


@kernel
def where_active(credit: Array, z: Array) -> None:
    """In place (columns, T, W): zero where the unit is silent; z may have more units."""
    columns, T, W = credit.shape
    for m in range(columns):
        for t in range(T):
            for v in range(W):
                credit[m, t, v] = credit[m, t, v] if z[m, t, v] > 0.0 else 0.0


@kernel
def tangent_of_first_layer(z: Array, A_h: Array, out: Array) -> None:
    """∂z_j(t)/∂h_j(t-1) as (columns, T, W)."""
    columns, T, W = out.shape
    for m in range(columns):
        for t in range(T):
            for v in range(W):
                out[m, t, v] = A_h[m, v] if z[m, t, v] > 0.0 else 0.0


@kernel
def gradient_of_own(a: Array, f: Array, out: Array) -> None:
    """U_ii: out (N, G, C, W) = Σ_t a_i(t) f_i(t)."""
    N, C, T, W = f.shape
    for n in range(N):
        for g in range(a.shape[2]):
            for j in range(C):
                for v in range(W):
                    out[n, g, j, v] = 0.0
                for t in range(T):
                    credit = a[n, t, g, j]
                    for v in range(W):
                        out[n, g, j, v] += credit * f[n, j, t, v]


@kernel
def gradient_of_listed(a: Array, f: Array, laterals: Listed, starts: Array, out: Array) -> None:
    """The listed U_ij: out[m] = Σ_t a_i(t) f_j(t)."""
    N, C, T, _ = f.shape
    _, gate, to, _, unit = laterals
    out[:] = 0.0
    for n in range(N):
        for j in range(C):
            for t in range(T):
                for m in range(starts[n, j], starts[n, j + 1]):
                    out[m] += a[n, t, gate[m], to[m]] * f[n, j, t, unit[m]]


@kernel
def jacobian(
    by_a: Array, by_r: Array, by_s: Array, R: Array,
    mode: int, U_own: Array, laterals: Listed, starts: Array, tangent: Array, dense: Array, out: Array,
) -> None:  # fmt: skip
    """J(t): out (N, T, P, P). by_a, by_r (N, T, S, G, C), by_s (N, T, S, S, C), R (N, G, C, C).

    mode 0: columns do not see their state; 1: they do, through own weights and listed laterals, with `tangent`
    ∂f_j(t)/∂h_j(t-1) (N, C, T, W); 2: through `dense` (N, C, T, G·C), the product of tangents and all weights.
    """
    N, T, S, G, C = by_a.shape
    value, gate, to, source, unit = laterals
    for n in range(N):
        for t in range(T):
            for k in range(S):
                for i in range(C):
                    row = k * C + i
                    for j in range(S * C):
                        out[n, t, row, j] = 0.0
                    for g in range(G):
                        direct, through = by_r[n, t, k, g, i], by_a[n, t, k, g, i]
                        for j in range(C):
                            out[n, t, row, j] += direct * R[n, g, i, j]
                        if mode == 1:
                            inner = direct * 0.0
                            for v in range(U_own.shape[3]):
                                inner += U_own[n, g, i, v] * tangent[n, i, t, v]
                            out[n, t, row, i] += through * inner
                        elif mode == 2:
                            for j in range(C):
                                out[n, t, row, j] += through * dense[n, j, t, g * C + i]
                    for m in range(S):
                        out[n, t, row, m * C + i] += by_s[n, t, k, m, i]
            if mode == 1:
                for m in range(starts[n, 0], starts[n, C]):
                    effect = value[m] * tangent[n, source[m], t, unit[m]]
                    for k in range(S):
                        out[n, t, k * C + to[m], source[m]] += by_a[n, t, k, gate[m], to[m]] * effect
