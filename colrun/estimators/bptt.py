"""Backpropagation through time: the exact gradient, the truth that every other estimator is compared with.

    credit     c(t) = λ(t), the exact adjoint pulled back from the last step to the first (see engine/adjoint.py)

Cost: one backward pass over the whole sequence; memory T·|activations|.
Reference: Werbos 1990.
"""

from torch import Tensor

from colrun.estimators.base import Estimator, Online, predict
from colrun.estimators.theory import Power
from colrun.networks.base import Network


class OnlineBPTT(Online):
    """Unroll, then one backward pass: online only in that it can stop after any step."""

    def __init__(self, network: Network, step_size: float | None) -> None:
        super().__init__(network, step_size)
        self.loss: Tensor | None = None

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Extend the graph."""
        self.s = self.network.step(self.theta, x_t, self.s)
        loss, _, self.w = predict(self.w, self.s[0], y_t, self.step_size)
        self.loss = loss if self.loss is None else self.loss + loss

    def open_loss(self) -> Tensor | None:
        """All of it: the backward pass through all steps is taken when asked for."""
        return self.loss


class BPTT(Estimator):
    """Exact: every loss reaches back to the first step, so the sequence is one block."""

    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(activations=1, steps=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """The whole graph."""
        return OnlineBPTT(network, step_size)


ESTIMATORS = {"bptt": BPTT()}
