"""Credits of the paper's estimators: the recursions of estimators/adjoint.py and master_user.py, compiled.

Of one network: J (T, P, P), h and w (T, C), δ (T,); credits are (T, P), h first. `linked` says whether J is not zero,
and α is 0 where w does not learn or its influence is left out.
"""

import numpy as np

from colrun.compiling import Array, kernel


@kernel
def pull_back(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, t: int,
    lam: Array, mu: Array, into_mu: Array,
) -> None:  # fmt: skip
    """Adjoints λ(t), in place, and μ(t), `into_mu`, from those of step t+1: what comes back from later losses alone.

    Steps are given as numbers, not as views: taking a view costs as much as the arithmetic of a small network.
    """
    P, C = lam.shape[1], h.shape[1]
    for p in range(P):
        lam[t, p] = 0.0
    if linked:
        for p in range(P):
            v = lam[t + 1, p]
            for k in range(P):
                lam[t, k] += J[t + 1, p, k] * v
    if alpha != 0.0:
        h_mu = h[0, 0] * 0.0
        for i in range(C):
            h_mu += h[t, i] * mu[i]
        for i in range(C):
            lam[t, i] += alpha * (delta[t] * mu[i] - w[t, i] * h_mu)
            into_mu[i] = mu[i] - alpha * h[t, i] * h_mu


@kernel
def adjoint_of_one(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, block: int, out: Array
) -> None:
    """The exact adjoint, cut at the end of blocks counted from the first step."""
    T, C = h.shape
    mu, next_mu = np.zeros(C, dtype=out.dtype), np.zeros(C, dtype=out.dtype)
    for t in range(T - 1, -1, -1):
        if t + 1 < T and (t + 1) % block != 0:
            pull_back(J, linked, h, w, delta, alpha, t, out, mu, next_mu)
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
    J: Array, linked: bool, h: Array, w: Array, delta: Array, alpha: float, t: int, reach: int,
    lam: Array, mu: Array, into: Array, into_mu: Array,
) -> None:  # fmt: skip
    """Adjoints of windows 1 … reach at once: those of the step's own loss, and what comes back to a window from one
    that is shorter by a step.

    lam and mu are (P or C, windows) of step t+1, `into` and `into_mu` those of step t; column ℓ becomes ℓ+1.
    """
    P, C = lam.shape[0], h.shape[1]
    for k in range(P):
        own, begin = -delta[t] * w[t, k] if k < C else 0.0, 0
        into[k, 0] = own
        if linked and P >= 4 and reach > 1:  # four at a time, so that `into` is read and written less often
            j0, j1, j2, j3 = J[t + 1, 0, k], J[t + 1, 1, k], J[t + 1, 2, k], J[t + 1, 3, k]
            for ell in range(1, reach):
                into[k, ell] = own + (
                    j0 * lam[0, ell - 1] + j1 * lam[1, ell - 1] + j2 * lam[2, ell - 1] + j3 * lam[3, ell - 1]
                )
            begin = 4
        else:
            for ell in range(1, reach):
                into[k, ell] = own
        if not linked or reach == 1:
            continue
        whole = P // 4 * 4
        for p in range(begin, whole, 4):
            j0, j1, j2, j3 = J[t + 1, p, k], J[t + 1, p + 1, k], J[t + 1, p + 2, k], J[t + 1, p + 3, k]
            for ell in range(1, reach):
                into[k, ell] += (
                    j0 * lam[p, ell - 1]
                    + j1 * lam[p + 1, ell - 1]
                    + j2 * lam[p + 2, ell - 1]
                    + j3 * lam[p + 3, ell - 1]
                )
        for p in range(whole, P):
            for ell in range(1, reach):
                into[k, ell] += J[t + 1, p, k] * lam[p, ell - 1]
    if alpha != 0.0:
        h_mu = np.zeros(reach, dtype=lam.dtype)
        for i in range(C):
            for ell in range(1, reach):
                h_mu[ell] += h[t, i] * mu[i, ell - 1]
        for i in range(C):
            own = -delta[t] * h[t, i]
            into_mu[i, 0] = own
            for ell in range(1, reach):
                into[i, ell] += alpha * (delta[t] * mu[i, ell - 1] - w[t, i] * h_mu[ell])
                into_mu[i, ell] = own + mu[i, ell - 1] - alpha * h[t, i] * h_mu[ell]


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
        pull_back_lags(J, linked, h, w, delta, alpha, t, reach, lam, mu, next_lam, next_mu)
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
