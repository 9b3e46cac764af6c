"""Credits of the paper's estimators: the recursions of estimators/adjoint.py and master_user.py, compiled.

Of one network: J (T, P, P), h and w (T, C), δ (T,); credits are (T, P), h first. `linked` says whether J is not zero,
and α is 0 where w does not learn or its influence is left out.
"""

import numpy as np

from colrun.kernels import Array, kernel


@kernel
def pull_back(
    J: Array, linked: bool, h: Array, w: Array, delta: float, alpha: float,
    lam: Array, mu: Array, into: Array, into_mu: Array,
) -> None:  # fmt: skip
    """Adjoints one step earlier: `into` and `into_mu` from λ and μ of the later step, whose Jacobian is J."""
    P, C = lam.size, h.size
    for p in range(P):
        into[p] = 0.0
    if linked:
        for p in range(P):
            v = lam[p]
            for k in range(P):
                into[k] += J[p, k] * v
    if alpha != 0.0:
        h_mu = h[0] * 0.0
        for i in range(C):
            h_mu += h[i] * mu[i]
        for i in range(C):
            into[i] += alpha * (delta * mu[i] - w[i] * h_mu)
            into_mu[i] = mu[i] - alpha * h[i] * h_mu


@kernel
def adjoint_of_one(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, block: int, out: Array
) -> None:
    """The exact adjoint, cut at the end of blocks counted from the first step."""
    T, C = h.shape
    mu, next_mu = np.zeros(C, dtype=out.dtype), np.zeros(C, dtype=out.dtype)
    for t in range(T - 1, -1, -1):
        if t + 1 < T and (t + 1) % block != 0:
            later = J[t + 1 if linked else 0]
            pull_back(later, linked, h[t], w[t], delta[t], alpha, out[t + 1], mu, out[t], next_mu)
        else:
            out[t] = 0.0
            next_mu[:] = 0.0
        for i in range(C):
            out[t, i] -= delta[t] * w[t, i]
            mu[i] = next_mu[i] - delta[t] * h[t, i]


@kernel
def adjoint(J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, block: int, out: Array) -> None:
    """Of all networks: out (N, T, P)."""
    for n in range(h.shape[0]):
        adjoint_of_one(J[n], linked, h[n], w[n], delta[n], alpha, block, out[n])


@kernel
def pull_back_lags(
    J: Array, linked: bool, h: Array, w: Array, delta: float, alpha: float, reach: int,
    lam: Array, mu: Array, into: Array, into_mu: Array,
) -> None:  # fmt: skip
    """Adjoints of windows 1 … reach at once: those of the step's own loss, and `pull_back` of a window shorter by one.

    lam and mu are (P or C, windows) of the later step, whose Jacobian is J; column ℓ becomes ℓ+1.
    """
    P, C = lam.shape[0], h.size
    for k in range(P):
        own = -delta * w[k] if k < C else 0.0
        for ell in range(reach):
            into[k, ell] = own
        if not linked:
            continue
        whole = P // 4 * 4
        for p in range(0, whole, 4):  # four at a time, so that `into` is read and written less often
            j0, j1, j2, j3 = J[p, k], J[p + 1, k], J[p + 2, k], J[p + 3, k]
            for ell in range(1, reach):
                into[k, ell] += (
                    j0 * lam[p, ell - 1]
                    + j1 * lam[p + 1, ell - 1]
                    + j2 * lam[p + 2, ell - 1]
                    + j3 * lam[p + 3, ell - 1]
                )
        for p in range(whole, P):
            for ell in range(1, reach):
                into[k, ell] += J[p, k] * lam[p, ell - 1]
    if alpha != 0.0:
        h_mu = np.zeros(reach, dtype=lam.dtype)
        for i in range(C):
            for ell in range(1, reach):
                h_mu[ell] += h[i] * mu[i, ell - 1]
        for i in range(C):
            into_mu[i, 0] = -delta * h[i]
            for ell in range(1, reach):
                into[i, ell] += alpha * (delta * mu[i, ell - 1] - w[i] * h_mu[ell])
                into_mu[i, ell] = mu[i, ell - 1] - alpha * h[i] * h_mu[ell] - delta * h[i]


@kernel
def lagged_of_one(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, windows: Array, out: Array
) -> None:
    """For each of the `windows` k the adjoint of the losses less than k steps ahead, as (windows, T, P).

    Column ℓ of `lam` holds that of the current step for the window ℓ+1: its own loss, and column ℓ-1 of the next step
    pulled back.
    """
    T, C = h.shape
    P = out.shape[2]
    K = min(np.max(windows), T)
    lam, next_lam = np.zeros((P, K), dtype=out.dtype), np.zeros((P, K), dtype=out.dtype)
    mu, next_mu = np.zeros((C, K), dtype=out.dtype), np.zeros((C, K), dtype=out.dtype)
    for t in range(T - 1, -1, -1):
        reach = min(K, T - t)
        later = J[t + 1 if linked and t + 1 < T else 0]  # after the last step there is none, and reach is 1
        pull_back_lags(later, linked, h[t], w[t], delta[t], alpha, reach, lam, mu, next_lam, next_mu)
        lam, next_lam = next_lam, lam
        mu, next_mu = next_mu, mu
        for number in range(windows.size):  # a window may reach beyond the last step
            ell = min(windows[number], reach) - 1
            for p in range(P):
                out[number, t, p] = lam[p, ell]


@kernel
def lagged(J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, windows: Array, out: Array) -> None:
    """Of all networks: out (N, windows, T, P)."""
    for n in range(h.shape[0]):
        lagged_of_one(J[n], linked, h[n], w[n], delta[n], alpha, windows, out[n])


@kernel
def own(J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, out: Array) -> None:
    """Master-User: the diagonal blocks of J (N, T, P, P) alone; out (N, T, P)."""
    N, T, C = h.shape
    S = out.shape[2] // C
    for n in range(N):
        for i in range(C):
            mu = h[n, 0, i] * 0.0
            for t in range(T - 1, -1, -1):
                for k in range(S):
                    total = mu * 0.0
                    if linked and t + 1 < T:
                        for m in range(S):
                            total += J[n, t + 1, m * C + i, k * C + i] * out[n, t + 1, m * C + i]
                    out[n, t, k * C + i] = total
                error, h_i, w_i = delta[n, t], h[n, t, i], w[n, t, i]
                out[n, t, i] += alpha * (error - h_i * w_i) * mu - error * w_i
                mu = (1.0 - alpha * h_i * h_i) * mu - error * h_i
