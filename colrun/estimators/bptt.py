"""Backpropagation through time: the exact gradient, the truth that every other estimator is compared with.

While θ moves every step has its own: ĝ = Σ_t Σ_{s≤t} ∂L(t)/∂θ(s), all of it at the end.

    credit     c(t) = λ(t), the exact adjoint pulled back from the last step to the first (see adjoint.py)

Cost: one backward pass over the whole sequence; memory T·|activations|.
Reference: Werbos 1990.
"""

from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from colrun.estimators.adjoint import Adjoint, as_credit, own_loss, pull_back
from colrun.estimators.base import StateCredit
from colrun.estimators.online import Memory, Online, Step
from colrun.estimators.theory import Power
from colrun.estimators.unrolled import Unrolled
from colrun.networks.base import Gradients, Theta
from colrun.networks.dense import DenseBatch
from colrun.networks.trajectory import Trajectory
from colrun.readout import Readout

if TYPE_CHECKING:
    from colrun.compiled import Compiled


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


class BPTT(StateCredit):
    """Exact: every loss reaches back to the first step, so the sequence is one block."""

    crosses = True
    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(activations=1, steps=1)

    def credits(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Tensor]:
        """One pass back."""
        return [adjoint_with_cuts(trajectory, trajectory.steps)] * len(windows)

    def dense_gradients(self, batch: DenseBatch, step_size: float | None) -> Gradients:
        """One backward pass for all networks: no weight of one enters a loss of another."""
        theta = {name: value.detach().requires_grad_() for name, value in batch.theta.items()}
        loss = 0.5 * batch.run(theta, step_size).delta.square().sum()
        return batch.as_named(torch.autograd.grad(loss, list(theta.values()), materialize_grads=True))

    def compiled_credits(self, run: "Compiled", windows: Several[int | None]) -> list[Tensor]:
        """One pass back."""
        return [run.adjoint(run.h.shape[1])] * len(windows)


def adjoint_with_cuts(trajectory: Trajectory, block: int) -> Tensor:
    """λ of every step as a credit, where losses are seen within blocks of `block` steps from the first."""
    own = own_loss(trajectory)
    total: list[Adjoint] = []
    for t in reversed(range(trajectory.steps)):
        here = own.at(slice(t, t + 1))
        if (t + 1) % block and t + 1 < trajectory.steps:
            here = here + pull_back(trajectory, slice(t, t + 1), total[-1])
        total.append(here)
    return as_credit(trajectory, torch.cat([adjoint.lam for adjoint in reversed(total)], dim=1))


ONLINE = {"bptt": OnlineBPTT}
ESTIMATORS = {"bptt": BPTT()}
