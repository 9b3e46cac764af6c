"""How a prediction is made of a state, and how w learns. Nobody else among the online forms knows.

    y = w·h [+ w_0]      δ = y* - y      L = ½ δ²      w(t+1) = w(t) + α δ(t) [h(t); 1]                       (LMS)

or, of a network that predicts by itself, y = predict(θ, s), without any w. A bias w_0 is a last number of w whose h is
always 1. Where a step is not counted there is no loss and w stands still.

For those who follow derivatives M = ∂h/∂θ and Mw = ∂w/∂θ forward, be they whole Jacobians, parts or products of them:

    ∂δ = -(w·M + h·Mw)      Mw(t+1) = Mw(t) + α (h ∂δ + δ M)
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.errors import InvalidValueError
from colrun.networks.base import Gradients, Network, Theta


class Predicted(NamedTuple):
    """One prediction and, where w learns, its step of LMS."""

    prediction: Tensor
    delta: Tensor
    loss: Tensor
    w_tp1: Tensor


def predict(w_t: Tensor, seen: Tensor, y_t: Tensor, step_size: float | None) -> Predicted:
    """From what w multiplies, h or [h; 1]; leading dimensions are free."""
    prediction = (w_t * seen).sum(-1)
    delta = y_t - prediction
    w_tp1 = w_t if step_size is None else w_t + step_size * delta.unsqueeze(-1) * seen
    return Predicted(prediction, delta, 0.5 * delta**2, w_tp1)


class Slope(NamedTuple):
    """How y(t) depends on the state and, past it, on θ."""

    by_state: Tensor
    """∂y/∂s of the first numbers of s, in its order; it is 0 for the others."""
    direct: Gradients
    """∂y/∂θ at a fixed state; empty where there is none, as with a readout."""


@dataclass(frozen=True)
class Readout:
    """Of one network, and of one way in which its w learns."""

    network: Network
    step_size: float | None = None
    """α of LMS; None where w is fixed."""
    meta: bool = False
    """Whether gradients go through LMS."""
    bias: bool = False
    """Whether there is a w_0."""

    def __post_init__(self) -> None:
        if self.network.w is None and (self.step_size is not None or self.bias):
            raise InvalidValueError(
                f"{self.network.kind} predicts by itself, so there is no w that could learn or have a bias; leave "
                "step_size and bias out."
            )

    def start(self) -> Tensor:
        """w(0), and w_0(0) = 0; no numbers where the network predicts by itself."""
        w = self.network.w
        if w is None:
            return torch.zeros(0, dtype=self.network.dtype)
        return torch.cat([w, w.new_zeros(1)]) if self.bias else w

    def seen(self, s_t: Tensor) -> Tensor:
        """h, or [h; 1]: what w multiplies."""
        h_t = self.network.h(s_t)
        return torch.cat([h_t, h_t.new_ones(1)]) if self.bias else h_t

    def predict(self, theta: Theta, s_t: Tensor, w_t: Tensor, y_t: Tensor, counted: bool = True) -> Predicted:
        """With the graph of θ, s and w; w(t+1) has one only if gradients go through LMS."""
        if self.network.w is None:
            prediction = self.network.predict(theta, s_t)
            delta = y_t - prediction
            return Predicted(prediction, delta, 0.5 * delta**2, w_t)
        found = predict(w_t, self.seen(s_t), y_t, self.step_size if counted else None)
        return found if self.meta else found._replace(w_tp1=found.w_tp1.detach())

    def slope(self, theta: Theta, s_t: Tensor, w_t: Tensor) -> Slope:
        """At a state without graph; `theta` are leaves."""
        if self.network.w is not None:
            return Slope(w_t[:-1] if self.bias else w_t, {})
        s_t = s_t.detach().requires_grad_()
        y = self.network.predict(theta, s_t)
        if not y.requires_grad:
            return Slope(torch.zeros_like(s_t).flatten(), {})
        *direct, by_state = torch.autograd.grad(y, [*theta.values(), s_t], materialize_grads=True)
        return Slope(by_state.flatten(), dict(zip(theta, direct, strict=True)))


def error_tangent(by_state: Tensor, M: Tensor, seen: Tensor | None = None, Mw: Tensor | None = None) -> Tensor:
    """∂δ, from as many rows of M as y sees; without Mw where w carries nothing."""
    found: Tensor = -torch.tensordot(by_state, M[: len(by_state)], dims=1)
    if Mw is not None:
        assert seen is not None
        found = found - torch.tensordot(seen, Mw, dims=1)
    return found


def w_tangent(
    step_size: float, Mw: Tensor, seen: Tensor, d_delta: Tensor, delta: Tensor, M_h: Tensor, place: Tensor | None = None
) -> Tensor:
    """Mw(t+1). The rows of M_h are the first of Mw's, or those at `place`; of others, such as w_0's, h is constant."""
    found = Mw + (step_size * seen).reshape(-1, *[1] * d_delta.ndim) * d_delta
    through_h = step_size * delta * M_h
    if place is None and len(M_h) == len(Mw):
        return found + through_h
    found[slice(len(M_h)) if place is None else place] += through_h
    return found


def own_w_tangent(step_size: float, TW: Tensor, h_i: Tensor, w_i: Tensor, delta: Tensor, e_i: Tensor) -> Tensor:
    """∂w_i/∂θ_i of w_i alone, δ seen to move by h_i and w_i only: eq. tw_update."""
    return (1 - step_size * h_i**2) * TW + step_size * (delta - h_i * w_i) * e_i
