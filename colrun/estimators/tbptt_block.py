"""Truncated backpropagation in blocks: the sequence is cut every k steps, which is what the released code does.

At each block's start the state and, where w learns, w after its update are constants for all losses; the last block may
be short.

    credit     c(t) = λ(t), with λ and μ of the next block's first step taken as 0

Cost: one backward pass per k steps; memory k·|activations|.
Reference: epochwise truncation, Williams and Peng 1990.
"""

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING

from torch import Tensor

from colrun.engine.trajectory import Trajectory
from colrun.estimators.base import Online, StateCredit, predict
from colrun.estimators.bptt import adjoint_with_cuts
from colrun.estimators.theory import Power
from colrun.networks.base import Network

if TYPE_CHECKING:
    from colrun.engine.run import Compiled


class OnlineBlockTBPTT(Online):
    """Backward pass at the end of each block, which is then forgotten."""

    def __init__(self, network: Network, step_size: float | None, window: int) -> None:
        super().__init__(network, step_size)
        self.window = window
        self.taken = 0
        self.loss: Tensor | None = None

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Extend the block; close it if it is full."""
        self.s = self.network.step(self.theta, x_t, self.s)
        loss, _, self.w = predict(self.w, self.s[0], y_t, self.step_size)
        self.loss = loss if self.loss is None else self.loss + loss
        self.taken += 1
        if self.taken % self.window == 0:
            self.backward([self.loss], None, [])
            self.loss, self.s, self.w = None, self.s.detach(), self.w.detach()

    def open_loss(self) -> Tensor | None:
        """Of the block that is not full yet: at the end of the sequence, the short last one."""
        return self.loss


class BlockTBPTT(StateCredit):
    """Exact within blocks."""

    crosses = True
    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(activations=1, window=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:
        """Blocks of `window` steps."""
        assert window is not None
        return OnlineBlockTBPTT(network, step_size, window)

    def credits(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Tensor]:
        """One pass back per block length."""
        return [adjoint_with_cuts(trajectory, window) for window in windows if window is not None]

    def compiled_credits(self, run: "Compiled", windows: Several[int | None]) -> list[Tensor]:
        """One pass back per block length."""
        return [run.adjoint(min(window, run.h.shape[1])) for window in windows if window is not None]


ESTIMATORS = {"tbptt-block": BlockTBPTT()}
