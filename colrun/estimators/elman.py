"""Elman's simple recurrent network: the state before a step is an input like any other, so nothing goes back in time.

    ĝ(t) = ∂L(t)/∂θ with s(t-1) and w(t) as constants

    credit     c(t) = -δ w on h: that of tbptt with a window of 1

Cost: one backward step per step, O(|θ|); between steps nothing is held but the state.
Reference: Elman 1990.
"""

from typing import TYPE_CHECKING

from torch import Tensor

from colrun.estimators.online import Memory, Online, Step
from colrun.estimators.unrolled import Unrolled
from colrun.networks.base import Theta
from colrun.readout import Readout

if TYPE_CHECKING:
    pass


class OnlineElman(Online[Memory]):
    """Keeps no graph: s and w before a step are constants."""

    steady = True

    def start(self, readout: Readout) -> Memory:
        return Memory(readout, readout.network.initial_state(), readout.start())

    def step(self, memory: Memory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True) -> tuple[Memory, Step]:
        """Forward and back."""
        here, predicted = Unrolled(memory.readout, memory.s, memory.w).take(theta, x_t, y_t, counted)
        gradient = {} if here.loss is None else here.back([here.loss])[0]
        after = Memory(memory.readout, here.s.detach(), here.w.detach())
        return after, Step.of(gradient, predicted, after.s)


ONLINE = {"elman": OnlineElman}
