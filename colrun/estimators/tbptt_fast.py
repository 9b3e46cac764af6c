"""The fast form of tbptt: see tbptt.py. One pass over the steps gives every window.

The arguments of kernels are those of engine/adjoint.py.
"""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.run import Run


class TBPTT(FastForm):
    """Every window from one pass."""

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """The adjoint of the losses less than k steps ahead."""
        N, T, P = run.shape
        lengths = [min(window, T) for window in windows if window is not None]
        increasing = sorted(set(lengths))
        out = np.empty((N, len(increasing), T, P), run.h.dtype)
        lagged(run.J, run.linked, run.h, run.w, run.delta, run.learns, run.rate, np.array(increasing), out)
        for n, length in enumerate(increasing):
            out[:, n, T - length :] = run.truth[:, T - length :]  # the same numbers, and now to the last bit
        return [out[:, increasing.index(length)] for length in lengths]


@kernel
def pull_back_lags(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, learns: bool, alpha: float, t: int, reach: int,
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
    if learns:
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
    J: Array, linked: bool, h: Array, w: Array, delta: Array, learns: bool, rate: Array, windows: Array, out: Array
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
        pull_back_lags(J, linked, h, w, delta, learns, rate[t], t, reach, lam, mu, next_lam, next_mu)
        lam, next_lam = next_lam, lam
        mu, next_mu = next_mu, mu
        for number in range(windows.size):  # a window may reach beyond the last step
            ell = min(windows[number], reach) - 1
            for p in range(P):
                out[number, t, p] = lam[p, ell]


@kernel
def lagged(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, learns: bool, rate: Array, windows: Array, out: Array
) -> None:
    """Of all networks: out (N, windows, T, P)."""
    for n in range(h.shape[0]):
        lagged_of_one(J[n], linked, h[n], w[n], delta[n], learns, rate[n], windows, out[n])


FAST = {"tbptt": TBPTT()}
