"""Truncated backpropagation through time with a sliding window: every L(t) is credited through steps t-k+1 … t.

The state after step t-k and, where w learns, w at that time are constants for L(t), and for L(t) only. While θ moves,
L(t) goes back through these steps as they were computed, each with its own θ.

    credit     c(t) = Σ_{ℓ<k} λ_ℓ(t),   λ_ℓ(t): the adjoint of L(t+ℓ) at step t
               λ_0 from the own loss;   λ_ℓ(t) is λ_{ℓ-1}(t+1) pulled back one step

so that one pass over lags, all steps at once, gives every window.

Cost: k backward steps per step; memory k·|activations|.
Reference: Williams and Peng 1990, truncated BPTT(h).
"""

import sys
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from colrun.estimators.online import Memory, Online, Step
from colrun.estimators.unrolled import Unrolled, summed
from colrun.networks.base import Gradients, Theta
from colrun.readout import Readout

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class WindowMemory(Memory):
    """The last k steps, each a graph of its own."""

    past: deque[Unrolled]


class OnlineTBPTT(Online[WindowMemory]):
    """Keeps the graphs of the last k steps, as they were computed, and goes back through them for each loss."""

    steady = True

    def start(self, readout: Readout) -> WindowMemory:
        past: deque[Unrolled] = deque(maxlen=min(self.window, sys.maxsize))
        return WindowMemory(readout, readout.network.initial_state(), readout.start(), past)

    def step(
        self, memory: WindowMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[WindowMemory, Step]:
        """Forward, then back through the window."""
        readout = memory.readout
        here, predicted = Unrolled(readout, memory.s, memory.w, credited=True).take(theta, x_t, y_t, counted)
        past = memory.past.copy()
        past.append(here)
        gradient: Gradients = {}
        if here.loss is not None:
            gradient, credit = here.back([here.loss], into_before=True)
            for step in list(past)[-2::-1]:
                part, credit = step.back(step.after, credit, into_before=True)
                gradient = summed(gradient, part)
        here.loss = None  # it goes back once only
        s_t, w_tp1 = here.s.detach(), here.w.detach()
        return WindowMemory(readout, s_t, w_tp1, past), Step.of(gradient, predicted, s_t)


ONLINE = {"tbptt": OnlineTBPTT}
