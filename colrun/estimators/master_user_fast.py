"""The fast form of master-user: see master_user.py."""

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.run import Run


class MasterUser(FastForm):
    """With the meta-gradient or without it."""

    crosses = False

    def __init__(self, meta: bool) -> None:
        self.meta = meta

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """The diagonal of the exact adjoint."""
        return [own_credit(run, run.own_jacobian, run.w, self.meta)] * len(windows)


def own_credit(run: Run, d: Array, back: Array, meta: bool) -> Array:
    """λ_i(t) as (N, T, P): d (N, T, S, S, C) is the decay of states, `back` (N, T, C) the error's way back."""
    out = np.empty(run.shape, run.h.dtype)
    own(d, run.h, back, run.delta, run.rate if meta else np.zeros_like(run.rate), out)
    return out


@kernel
def own(d: Array, h: Array, w: Array, delta: Array, rate: Array, out: Array) -> None:
    """d (N, T, S, S, C), h and w (N, T, C), δ and α of every step (N, T); out (N, T, S·C)."""
    N, T, C = h.shape
    S = d.shape[2]
    for n in range(N):
        for i in range(C):
            mu = h[n, 0, i] * 0.0
            for t in range(T - 1, -1, -1):
                for k in range(S):
                    total = mu * 0.0
                    if t + 1 < T:
                        for m in range(S):
                            total += d[n, t + 1, m, k, i] * out[n, t + 1, m * C + i]
                    out[n, t, k * C + i] = total
                alpha, error, h_i, w_i = rate[n, t], delta[n, t], h[n, t, i], w[n, t, i]
                out[n, t, i] += alpha * (error - h_i * w_i) * mu - error * w_i
                mu = (1.0 - alpha * h_i * h_i) * mu - error * h_i


FAST = {"master-user": MasterUser(meta=True), "master-user-no-meta": MasterUser(meta=False)}
