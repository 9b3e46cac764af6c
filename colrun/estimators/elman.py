"""Elman's simple recurrent network: the state before a step is an input like any other, so nothing goes back in time.

    ĝ(t) = ∂L(t)/∂θ with s(t-1) and w(t) as constants

    credit     c(t) = -δ w on h: that of tbptt with a window of 1

Cost: one backward step per step, O(|θ|); between steps nothing is held but the state.
Reference: Elman 1990.
"""

from torch import Tensor

from colrun.estimators.base import Online, predict
from colrun.estimators.tbptt import TBPTT
from colrun.networks.base import Network


class OnlineElman(Online):
    """Keeps no graph: s and w before a step are constants."""

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Forward and back."""
        s_t = self.network.step(self.theta, x_t, self.s)
        loss, _, w_tp1 = predict(self.w, s_t[0], y_t, self.step_size)
        self.backward([loss], None, [])
        self.s, self.w = s_t.detach(), w_tp1.detach()


class Elman(TBPTT):
    """The window-1 case, by the name under which the literature knows it."""

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """One step, and nothing of those before."""
        return OnlineElman(network, step_size)


ESTIMATORS = {"elman": Elman()}
