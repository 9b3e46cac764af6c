"""What plug-ins written for version 0.1 build on, and how their online forms run now. It goes with the next version.

Such an online form keeps a network's θ and adds up gradients in `total` as its `step` goes on. So θ must stand still
under it, every step counts, and its memory cannot be copied.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from colrun.errors import InvalidValueError
from colrun.estimators import online
from colrun.networks.base import Gradients, Theta
from colrun.networks.columnar import ColumnarNetwork
from colrun.readout import Readout


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
    """`step` for each (x, y*), then `gradient`."""

    def __init__(self, network: Any, step_size: float | None) -> None:
        self.network = network
        self.step_size = step_size
        self.theta = online.leaves(network.theta)
        self.s = network.initial_state()
        self.w = network.w
        self.total = online.zeros(network.theta)

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
        wanted = [*self.theta.values(), *inputs]
        grads = torch.autograd.grad(outputs, wanted, credit, retain_graph=True, materialize_grads=True)
        for total, grad in zip(into.values(), grads, strict=False):
            total += grad
        return list(grads[len(into) :])


class Estimator(ABC):
    """What a plug-in's table held."""

    needs_columns: ClassVar[bool] = False
    """Whether it is defined on columnar networks only."""
    undefined: ClassVar[Mapping[str, str]] = {}
    """Cells on which it is not defined, each with the reason."""
    takes_lists: ClassVar[bool] = False
    """Whether its online form runs on networks whose lateral weights are lists (networks/listed.py)."""

    @abstractmethod
    def online(self, network: Any, step_size: float | None, window: int | None) -> Online:
        """The online form, ready for its first step."""


class StateCredit(Estimator):
    """An estimator given by a credit of states, and whether that credit crosses columns."""

    crosses: ClassVar[bool]

    @abstractmethod
    def credits(self, trajectory: Any, windows: list[int | None]) -> list[Tensor]:
        """c of shape (N, T, S, C) for each window, on a trajectory of tensors (legacy_fast.py)."""


class OnlineMasterUser(Online):
    """Master-User, whose `local` may be another."""

    def __init__(self, network: Any, step_size: float | None, meta: bool = True) -> None:
        assert isinstance(network, ColumnarNetwork)
        super().__init__(network, step_size)
        self.owner = network.owner
        self.meta = meta and step_size is not None
        self.e = online.zeros(network.theta, network.states)
        self.TW = online.zeros(network.theta) if self.meta else {}

    def local(self, s_t: Tensor, s_tm1: Tensor) -> tuple[Theta, Tensor]:
        """∂s_i(t)/∂θ_i as (S, …) by name, and d_i(t) as (S, S, C)."""
        wanted = [*self.theta.values(), s_tm1]
        rows = [torch.autograd.grad(s_k.sum(), wanted, retain_graph=True, materialize_grads=True) for s_k in s_t]
        *local, d = (torch.stack(row) for row in zip(*rows, strict=True))
        return dict(zip(self.theta, local, strict=True)), d

    def forward(self, x_t: Tensor, s_tm1: Tensor) -> Tensor:
        """s(t) with its graph, and no gradient from one column into another."""
        found: Tensor = self.network.step(self.theta, x_t, s_tm1, stop_lateral=True)
        return found

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Eqs. master_user, final_update and tw_update, in this order."""
        s_tm1 = self.s.detach().requires_grad_()
        s_t = self.forward(x_t, s_tm1)
        local, d = self.local(s_t, s_tm1)
        self.s = s_t.detach()
        h_t = self.s[0]
        _, delta, w_tp1 = predict(self.w, h_t, y_t, self.step_size)
        for name, owner in self.owner.items():
            e = local[name] + (d[:, :, owner] * self.e[name].unsqueeze(0)).sum(1)
            influence = self.w[owner] * e[0]
            if self.meta:
                assert self.step_size is not None
                TW, h_i, w_i = self.TW[name], h_t[owner], self.w[owner]
                influence = influence + h_i * TW
                self.TW[name] = (1 - self.step_size * h_i**2) * TW + self.step_size * (delta - h_i * w_i) * e[0]
            self.total[name] -= delta * influence
            self.e[name] = e
        self.w = w_tp1


@dataclass(frozen=True)
class LegacyMemory(online.Memory):
    """The object itself, which changes with every step."""

    running: Any


@dataclass(frozen=True)
class FromLegacy(online.Online[LegacyMemory]):
    """An estimator whose `online(network, step_size, window)` gives an online form of version 0.1."""

    estimator: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        for name in ("needs_columns", "takes_lists"):
            object.__setattr__(self, name, bool(getattr(self.estimator, name, False)))

    def start(self, readout: Readout) -> LegacyMemory:
        if readout.bias or readout.meta != (readout.step_size is not None):
            raise InvalidValueError(f"{self.name} was written for version 0.1, which knows neither bias nor meta.")
        running = self.estimator.online(readout.network, readout.step_size, self.name.window)
        return LegacyMemory(readout, readout.network.initial_state(), readout.start(), running)

    def step(
        self, memory: LegacyMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[LegacyMemory, online.Step]:
        """What the step adds to a total of zeros."""
        network, running = memory.readout.network, memory.running
        if not counted or any(value is not theta[name] for name, value in network.theta.items()):
            raise InvalidValueError(
                f"{self.name} was written for version 0.1: under it θ must stand still and every step counts."
            )
        running.total = online.zeros(theta)
        running.step(x_t, y_t)
        s_t = running.s.detach()
        predicted = memory.readout.predict(theta, s_t, memory.w, y_t)
        after = replace(memory, s=s_t, w=predicted.w_tp1.detach())
        return after, online.Step.of(running.total, predicted, s_t)

    def finish(self, memory: LegacyMemory) -> Gradients:
        """What is open."""
        memory.running.total = online.zeros(memory.readout.network.theta)
        found: Gradients = memory.running.gradient()
        return {name: value.detach() for name, value in found.items()}
