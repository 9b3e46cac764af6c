"""The learner's state τ = (s, w), and the scales of pairs: see stochastic.py.

What the fast forms of uoro, nobacktrack and kf-rtrl share.
"""

import math

import numpy as np

from colrun.compiling import Array, kernel
from colrun.engine.run import Run


def learner_jacobian(run: Run) -> Array:
    """(N, T, Q, Q): 𝒥(t), which is J(t) where w does not learn."""
    if not run.learns:
        return run.J
    N, T, P = run.shape
    C = run.h.shape[2]
    joint = np.zeros((N, T, P + C, P + C), run.J.dtype)
    joint[:, :, :P, :P] = run.J
    h, w = run.h[:, :-1], run.w[:, :-1]
    delta, alpha = run.delta[:, :-1, None, None], run.rate[:, :-1, None, None]
    eye = np.eye(C)
    joint[:, 1:, P:, :C] = alpha * (delta * eye - h[..., None] * w[..., None, :])
    joint[:, 1:, P:, P:] = eye - alpha * h[..., None] * h[..., None, :]
    return joint


def learner_loss(run: Run) -> Array:
    """(N, T, Q): ∂L(t)/∂τ(t)."""
    N, T, P = run.shape
    C = run.h.shape[2]
    found = np.zeros((N, T, P + C * run.learns), run.h.dtype)
    found[..., :C] = -run.delta[..., None] * run.w
    if run.learns:
        found[..., P:] = -run.delta[..., None] * run.h
    return found


def balance(above: Array, below: Array) -> tuple[Array, Array]:
    """ρ = √(above/below) and 1/ρ, the scale at which both factors of a product have the same norm.

    Where a factor is 0 so is the product: it is left out (ρ = 1/ρ = 0), which leaves out its noise too and no more. The
    published algorithms add a small ε to norms and ρ instead.
    """
    exists = (above != 0) & (below != 0)  # NaN is kept
    with np.errstate(all="ignore"):
        return np.where(exists, np.sqrt(above / below), 0), np.where(exists, np.sqrt(below / above), 0)


@kernel
def balanced(above: float, below: float) -> tuple[float, float]:
    """`balance` of single numbers."""
    if above == 0.0 or below == 0.0:
        return above * 0.0, above * 0.0
    return math.sqrt(above / below), math.sqrt(below / above)
