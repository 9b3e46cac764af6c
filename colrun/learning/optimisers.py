"""What an optimiser makes of a gradient: θ(t+1) = θ(t) - step. Nothing is written in place.

    sgd        η ĝ
    rmsprop    η ĝ / (√v̂ + 1e-8),   v ← 0.999 v + 0.001 ĝ²,   v̂ = v/(1 - 0.999^n)
    adam       η m̂ / (√v̂ + 1e-8),   m ← 0.9 m + 0.1 ĝ,        m̂ = m/(1 - 0.9^n)

n counts the updates so far. Where a step is not counted nothing moves, n included.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from colrun.lanes.readout import BETA_1, BETA_2, SMALL
from colrun.networks.base import Gradients, Theta


@dataclass(frozen=True)
class Moments:
    """Before the next update."""

    updates: int
    m: Theta
    v: Theta

    @classmethod
    def zero(cls, theta: Theta) -> "Moments":
        nothing = {name: torch.zeros_like(value) for name, value in theta.items()}
        return cls(0, nothing, nothing)


def update(optimiser: str, eta: float, theta: Theta, moments: Moments, gradient: Gradients) -> tuple[Theta, Moments]:
    """θ and the moments after it."""
    if optimiser == "sgd":
        return {name: value - eta * gradient[name] for name, value in theta.items()}, moments
    n, m = moments.updates + 1, moments.m
    v = {name: BETA_2 * value + (1 - BETA_2) * gradient[name] ** 2 for name, value in moments.v.items()}
    top = gradient
    if optimiser == "adam":
        m = {name: BETA_1 * value + (1 - BETA_1) * gradient[name] for name, value in m.items()}
        top = {name: value / (1 - BETA_1**n) for name, value in m.items()}
    moved = {name: value - eta * _ratio(top[name], v[name] / (1 - BETA_2**n)) for name, value in theta.items()}
    return moved, Moments(n, m, v)


def _ratio(above: Tensor, squared: Tensor) -> Tensor:
    return above / (squared.sqrt() + SMALL)
