"""Backpropagation through time: the exact gradient, the truth that every other estimator is compared with.

While θ moves every step has its own: ĝ = Σ_t Σ_{s≤t} ∂L(t)/∂θ(s), all of it at the end.

    credit     c(t) = λ(t), the exact adjoint pulled back from the last step to the first (see adjoint.py)

Cost: one backward pass over the whole sequence; memory T·|activations|.
Reference: Werbos 1990.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from colrun.estimators.online import Memory, Online, Step
from colrun.estimators.unrolled import Unrolled
from colrun.networks.base import Gradients, Theta
from colrun.readout import Readout

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class WholeMemory(Memory):
    """All steps as one graph, and the state and w after the last."""

    steps: Unrolled


class OnlineBPTT(Online[WholeMemory]):
    """Unroll, then one backward pass: online only in that it can stop after any step. All of it is open till then."""

    def start(self, readout: Readout) -> WholeMemory:
        s, w = readout.network.initial_state(), readout.start()
        return WholeMemory(readout, s, w, Unrolled(readout, s, w))

    def step(
        self, memory: WholeMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[WholeMemory, Step]:
        steps, predicted = memory.steps.take(theta, x_t, y_t, counted)
        after = WholeMemory(memory.readout, steps.s.detach(), steps.w.detach(), steps)
        return after, Step.of({}, predicted, steps.s)

    def finish(self, memory: WholeMemory) -> Gradients:
        """The backward pass through all steps."""
        loss = memory.steps.loss
        return {} if loss is None else memory.steps.back([loss])[0]


ONLINE = {"bptt": OnlineBPTT}
