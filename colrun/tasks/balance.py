"""Influence balancing (Tallec and Ollivier 2017): a linear chain of 23 states with one parameter, in numpy.

    s(t) = A s(t-1) + θ b,   A = ½ (1 + shift),  b = (1 x 10, -1 x 13),   y = s_1,  target 1,   θ(0) = ½,  s(0) = 0

so s_i is fed by itself and by s_{i+1}. In the end s_1 = 2 θ Σ b = -6 θ, hence θ* = -1/6; what is near s_1 and seen
within few steps says the contrary. There is no w, and θ learns by sgd.
"""

import numpy as np

from colrun.errors import InvalidValueError
from colrun.streams import Array, stream

PLUS, MINUS = 10, 13
BEST, FIRST = -1 / 6, 0.5
LARGEST = 1000.0


def chain() -> tuple[Array, Array]:
    """A and b."""
    n = PLUS + MINUS
    return 0.5 * (np.eye(n) + np.eye(n, k=1)), np.concatenate([np.ones(PLUS), -np.ones(MINUS)])


def truncated(window: int) -> float:
    """∂y/∂θ through the last k steps, which do not depend on θ."""
    A, b = chain()
    total, effect = 0.0, b
    for _ in range(window):
        total, effect = total + effect[0], A @ effect
    return float(total)


def learn(learner: str, eta: float, steps: int, seed: int = 0) -> Array:
    """θ after every step, NaN from where it diverged on: `rtrl`, `tbptt-k` or `uoro`."""
    A, b = chain()
    family, _, number = learner.partition("-")
    if family not in ("rtrl", "tbptt", "uoro") or (family == "tbptt") != number.isdigit():
        raise InvalidValueError(f"learner {learner!r} does not run on balance; it must be rtrl, tbptt-k or uoro.")
    k = int(number) if number else 0
    effects = np.array([truncated(j + 1) for j in range(k)])
    noise = stream(seed, "uoro.0")
    s, theta, M = np.zeros(len(b)), FIRST, np.zeros(len(b))
    theta_tilde = 0.0
    found = np.full(steps, np.nan)
    for t in range(steps):
        s = A @ s + theta * b
        delta = 1 - s[0]
        if not abs(delta) <= LARGEST:
            break
        if family == "tbptt":
            by_theta = effects[min(t + 1, k) - 1]
        elif family == "rtrl":
            M = A @ M + b
            by_theta = M[0]
        else:
            moved = A @ M
            by_theta = moved[0] * theta_tilde + b[0]
            nu = np.where(noise.random(len(b)) < 0.5, 1.0, -1.0)
            local = float(nu @ b)
            rho_0, inverse_0 = _balance(abs(theta_tilde), float(np.linalg.norm(moved)))
            rho_1, inverse_1 = _balance(abs(local), float(np.linalg.norm(nu)))
            M, theta_tilde = rho_0 * moved + rho_1 * nu, inverse_0 * theta_tilde + inverse_1 * local
        theta += eta * delta * by_theta
        found[t] = theta
    return found


def _balance(above: float, under: float) -> tuple[float, float]:
    if above == 0 or under == 0:
        return 0.0, 0.0
    return float(np.sqrt(above / under)), float(np.sqrt(under / above))
