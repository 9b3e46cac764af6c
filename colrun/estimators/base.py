"""What an estimator must offer: an online form, as published; its fast form, for sweeps, stands beside it.

Both give the same gradients; the contract tests check it for every registered estimator. The online form is what a
learner runs, step by step and in its own memory. The fast form (engine/forms.py) is valid because θ is fixed over the
sequence.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from colrun.networks.base import Gradients, Network


class Predicted(NamedTuple):
    """One step of prediction and, where w learns, of LMS."""

    loss: Tensor
    delta: Tensor
    w_tp1: Tensor


def predict(w_t: Tensor, h_t: Tensor, y_t: Tensor, step_size: float | None) -> Predicted:
    """y = w·h, δ = y* - y, L = ½ δ², and w(t+1) = w(t) + α δ(t) h(t)."""
    delta = y_t - (w_t * h_t).sum(-1)
    w_tp1 = w_t if step_size is None else w_t + step_size * delta.unsqueeze(-1) * h_t
    return Predicted(0.5 * delta**2, delta, w_tp1)


class Online(ABC):
    """The published form: `step` for each (x, y*), then `gradient`."""

    def __init__(self, network: Network, step_size: float | None) -> None:
        self.network = network
        self.step_size = step_size
        self.theta = {name: value.detach().clone().requires_grad_() for name, value in network.theta.items()}
        self.s = network.zero_state()
        self.w = network.w
        self.total = {name: torch.zeros_like(value) for name, value in network.theta.items()}

    @abstractmethod
    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Take one step and whatever credit it brings."""

    def gradient(self) -> Gradients:
        """The estimate for the steps taken: a copy, so that one may ask at any step and go on."""
        found = {name: value.clone() for name, value in self.total.items()}
        still_open = self.open_loss()
        if still_open is not None:
            self.backward([still_open], None, [], into=found)
        return found

    def open_loss(self) -> Tensor | None:
        """Losses that `total` does not hold yet, with their graph; None if there are none."""
        return None

    def backward(
        self, outputs: list[Tensor], credit: list[Tensor] | None, inputs: list[Tensor], into: Gradients | None = None
    ) -> list[Tensor]:
        """Add the gradient with respect to θ to `into` (by default the total); return that with respect to `inputs`."""
        into = self.total if into is None else into
        grads = torch.autograd.grad(
            outputs,
            [*self.theta.values(), *inputs],
            credit,
            retain_graph=True,
            materialize_grads=True,
        )
        for total, grad in zip(into.values(), grads, strict=False):
            total += grad
        return list(grads[len(into) :])


class Estimator(ABC):
    """One algorithm. `window` is the number after its name, None where there is none."""

    needs_columns: ClassVar[bool] = False
    """Whether it is defined on columnar networks only."""
    undefined: ClassVar[Mapping[str, str]] = {}
    """Of a plug-in: cells on which it is not defined, each with the reason; colrun's own have it in their table."""
    takes_lists: ClassVar[bool] = False
    """Whether its online form runs on networks whose lateral weights are lists (networks/listed.py)."""

    @abstractmethod
    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:
        """The online form, ready for its first step."""


class StateCredit(Estimator):
    """What plug-ins were before engine/forms.py; it works for one more version: see legacy_fast.py."""

    crosses: ClassVar[bool]

    @abstractmethod
    def credits(self, trajectory: Any, windows: list[int | None]) -> list[Tensor]:
        """c of shape (N, T, S, C) for each window, on a trajectory of tensors."""
