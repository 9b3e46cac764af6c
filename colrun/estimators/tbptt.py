"""Truncated backpropagation through time with a sliding window: every L(t) is credited through steps t-k+1 … t.

The state after step t-k and, where w learns, w at that time are constants for L(t), and for L(t) only.

    credit     c(t) = Σ_{ℓ<k} λ_ℓ(t),   λ_ℓ(t): the adjoint of L(t+ℓ) at step t
               λ_0 from the own loss;   λ_ℓ(t) is λ_{ℓ-1}(t+1) pulled back one step

so that one pass over lags, all steps at once, gives every window.

Cost: k backward steps per step; memory k·|activations|.
Reference: Williams and Peng 1990, truncated BPTT(h).
"""

import sys
from collections import deque

from torch import Tensor

from colrun.estimators.base import Estimator, Online, predict
from colrun.estimators.theory import Power
from colrun.networks.base import Network


class OnlineTBPTT(Online):
    """Keeps the graphs of the last k steps and goes back through them for each loss."""

    def __init__(self, network: Network, step_size: float | None, window: int) -> None:
        super().__init__(network, step_size)
        self.past: deque[tuple[list[Tensor], list[Tensor]]] = deque(maxlen=min(window, sys.maxsize))

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Forward, then back through the window."""
        before = [self.s.detach().requires_grad_(), self.w.detach().requires_grad_()]
        self.s = self.network.step(self.theta, x_t, before[0])
        loss, _, self.w = predict(before[1], self.s[0], y_t, self.step_size)
        self.past.append((before, [self.s, self.w]))
        credit = self.backward([loss], None, before)
        for entered, left in list(self.past)[-2::-1]:
            if self.step_size is None:  # w carries nothing from step to step
                credit = [*self.backward(left[:1], credit[:1], entered[:1]), credit[1]]
            else:
                credit = self.backward(left, credit, entered)


class TBPTT(Estimator):
    """Every window from one pass over lags."""

    takes_lists = True
    operations = Power(parameters=1, window=1)
    memory = Power(activations=1, window=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:
        """A window of `window` steps."""
        assert window is not None
        return OnlineTBPTT(network, step_size, window)


ESTIMATORS = {"tbptt": TBPTT()}
