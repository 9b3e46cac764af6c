"""Truncated backpropagation in blocks: the sequence is cut every k steps, which is what the released code does.

At each block's start the state and, where w learns, w after its update are constants for all losses; the last block may
be short. While θ moves every step of a block has its own, and the block's gradient is the sum over them, at its end.

    credit     c(t) = λ(t), with λ and μ of the next block's first step taken as 0

Cost: one backward pass per k steps; memory k·|activations|.
Reference: epochwise truncation, Williams and Peng 1990.
"""

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING

from torch import Tensor

from colrun.estimators.base import StateCredit
from colrun.estimators.bptt import OnlineBPTT, WholeMemory, adjoint_with_cuts
from colrun.estimators.online import Step
from colrun.estimators.theory import Power
from colrun.estimators.unrolled import Unrolled
from colrun.networks.base import Theta
from colrun.networks.trajectory import Trajectory

if TYPE_CHECKING:
    from colrun.compiled import Compiled


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


class BlockTBPTT(StateCredit):
    """Exact within blocks."""

    crosses = True
    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(activations=1, window=1)

    def credits(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Tensor]:
        """One pass back per block length."""
        return [adjoint_with_cuts(trajectory, window) for window in windows if window is not None]

    def compiled_credits(self, run: "Compiled", windows: Several[int | None]) -> list[Tensor]:
        """One pass back per block length."""
        return [run.adjoint(min(window, run.h.shape[1])) for window in windows if window is not None]


ONLINE = {"tbptt-block": OnlineBlockTBPTT}
ESTIMATORS = {"tbptt-block": BlockTBPTT()}
