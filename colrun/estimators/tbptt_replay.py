"""Truncated backpropagation that runs the last k steps again, at the present θ, from the state that was stored then.

    ĝ(t) = -δ(t) ∂y/∂θ,   y of the replayed steps, δ(t) of the prediction that was made

With θ still it is tbptt-k. While θ learns, all k steps are seen with θ(t), at the price of k forward steps more. Where
gradients go through LMS, w before the window is a constant and its updates are replayed too.
"""

import sys
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.estimators.online import Memory, Online, Step, leaves
from colrun.networks.base import Gradients, Theta
from colrun.readout import Readout


class Shown(NamedTuple):
    """A step, and the state and w before it."""

    x_t: Tensor
    y_t: Tensor
    counted: bool
    s_tm1: Tensor
    w_t: Tensor


@dataclass(frozen=True)
class ReplayMemory(Memory):
    past: deque[Shown]


class OnlineReplay(Online[ReplayMemory]):
    def start(self, readout: Readout) -> ReplayMemory:
        past: deque[Shown] = deque(maxlen=min(self.window, sys.maxsize))
        return ReplayMemory(readout, readout.network.initial_state(), readout.start(), past)

    def step(
        self, memory: ReplayMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[ReplayMemory, Step]:
        readout, past = memory.readout, memory.past.copy()
        past.append(Shown(x_t, y_t, counted, memory.s, memory.w))
        with torch.no_grad():
            s_t = readout.network.step(theta, x_t, memory.s)
            predicted = readout.predict(theta, s_t, memory.w, y_t, counted)
        gradient = replayed(readout, theta, past, predicted.delta) if counted else {}
        return ReplayMemory(readout, s_t, predicted.w_tp1, past), Step.of(gradient, predicted, s_t)


def replayed(readout: Readout, theta: Theta, past: deque[Shown], delta: Tensor) -> Gradients:
    """-δ ∂y/∂θ through all steps of the past, at one θ."""
    theta = leaves(theta)
    s, w = past[0].s_tm1, past[0].w_t
    for shown in past:
        s = readout.network.step(theta, shown.x_t, s)
        predicted = readout.predict(theta, s, w if readout.meta else shown.w_t, shown.y_t, shown.counted)
        w = predicted.w_tp1
    if not predicted.prediction.requires_grad:
        return {name: torch.zeros_like(value) for name, value in theta.items()}
    grads = torch.autograd.grad(predicted.prediction, list(theta.values()), -delta, materialize_grads=True)
    return dict(zip(theta, grads, strict=True))


ONLINE = {"tbptt-replay": OnlineReplay}
