"""Truncated backpropagation in blocks: the sequence is cut every k steps, which is what the released code does.

At each block's start the state and, where w learns, w after its update are constants for all losses; the last block may
be short.

    credit     c(t) = λ(t), with λ and μ of the next block's first step taken as 0

Cost: one backward pass per k steps; memory k·|activations|.
Reference: epochwise truncation, Williams and Peng 1990.
"""

from torch import Tensor

from colrun.estimators.base import Estimator, Online, predict
from colrun.estimators.theory import Power
from colrun.networks.base import Network


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


class BlockTBPTT(Estimator):
    """Exact within blocks."""

    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(activations=1, window=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:
        """Blocks of `window` steps."""
        assert window is not None
        return OnlineBlockTBPTT(network, step_size, window)


ESTIMATORS = {"tbptt-block": BlockTBPTT()}
