"""Backpropagation through time: the exact gradient, the truth that every other estimator is compared with.

    credit     c(t) = λ(t), the exact adjoint pulled back from the last step to the first (see adjoint.py)

Cost: one backward pass over the whole sequence; memory T·|activations|.
Reference: Werbos 1990.
"""

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from colrun.engine.trajectory import Trajectory
from colrun.estimators.adjoint import Adjoint, as_credit, own_loss, pull_back
from colrun.estimators.base import Online, StateCredit, predict
from colrun.estimators.theory import Power
from colrun.networks.base import Gradients, Network
from colrun.networks.dense import DenseBatch

if TYPE_CHECKING:
    from colrun.engine.run import Compiled


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


class BPTT(StateCredit):
    """Exact: every loss reaches back to the first step, so the sequence is one block."""

    crosses = True
    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(activations=1, steps=1)

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """The whole graph."""
        return OnlineBPTT(network, step_size)

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


ESTIMATORS = {"bptt": BPTT()}
