"""Truncated backpropagation in blocks: the sequence is cut every k steps, which is what the released code does.

At each block's start the state and, where w learns, w after its update are constants for all losses; the last block may
be short. While θ moves every step of a block has its own, and the block's gradient is the sum over them, at its end.

    credit     c(t) = λ(t), with λ and μ of the next block's first step taken as 0

Cost: one backward pass per k steps; memory k·|activations|.
Reference: epochwise truncation, Williams and Peng 1990.
"""

from typing import TYPE_CHECKING

from torch import Tensor

from colrun.estimators.bptt import OnlineBPTT, WholeMemory
from colrun.estimators.online import Step
from colrun.estimators.unrolled import Unrolled
from colrun.networks.base import Theta

if TYPE_CHECKING:
    pass


class OnlineBlockTBPTT(OnlineBPTT):
    """A backward pass at the end of each block, which is then forgotten; the last short one is open till `finish`."""

    def step(
        self, memory: WholeMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[WholeMemory, Step]:
        """Extend the block; close it if it is full. Only its last step has a gradient, that of the whole block."""
        memory, step = super().step(memory, theta, x_t, y_t, counted)
        if len(memory.steps.taken) < self.window:
            return memory, step
        block = Unrolled(memory.readout, memory.s, memory.w)
        return WholeMemory(memory.readout, memory.s, memory.w, block), step._replace(gradient=self.finish(memory))


ONLINE = {"tbptt-block": OnlineBlockTBPTT}
