"""The exact adjoint of the learner's state (s, w), one step back at a time: the credit of the truth.

With λ = ∂/∂s(t) and μ = ∂/∂w(t) of the losses in scope, μ and λ on the right taken at t+1:

    own loss     λ_h = -δ w                      μ = -δ h
    pulled back  λ   = J(t+1)ᵀ λ + α δ μ - α w (h·μ)        (the w terms on h only, where w learns)
                 μ   = μ - α h (h·μ)

Of one network: J (T, P, P), h and w (T, C), δ (T,), and α of every step, `rate` (T,), which is 0 where w stands still;
credits are (T, P), h first. `linked` says whether J is not zero, `learns` whether any α is not.
"""

import numpy as np

from colrun.compiling import Array, kernel


@kernel
def pull_back(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, learns: bool, alpha: float, t: int,
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
    if learns:
        h_mu = h[0, 0] * 0.0
        for i in range(C):
            h_mu += h[t, i] * mu[i]
        for i in range(C):
            lam[t, i] += alpha * (delta[t] * mu[i] - w[t, i] * h_mu)
            into_mu[i] = mu[i] - alpha * h[t, i] * h_mu


@kernel
def adjoint_of_one(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, learns: bool, rate: Array, block: int, out: Array
) -> None:
    """Cut at the end of blocks counted from the first step."""
    T, C = h.shape
    mu, next_mu = np.zeros(C, dtype=out.dtype), np.zeros(C, dtype=out.dtype)
    for t in range(T - 1, -1, -1):
        if t + 1 < T and (t + 1) % block != 0:
            pull_back(J, linked, h, w, delta, learns, rate[t], t, out, mu, next_mu)
        else:
            out[t] = 0.0
            next_mu[:] = 0.0
        for i in range(C):
            out[t, i] -= delta[t] * w[t, i]
            mu[i] = next_mu[i] - delta[t] * h[t, i]


@kernel
def adjoint(
    J: Array, linked: bool, h: Array, w: Array, delta: Array, learns: bool, rate: Array, block: int, out: Array
) -> None:
    """Of all networks: out (N, T, P)."""
    for n in range(h.shape[0]):
        adjoint_of_one(J[n], linked, h[n], w[n], delta[n], learns, rate[n], block, out[n])
