"""What every network offers to the online forms: named parameters, which of them exist, and one differentiable step.

θ is never kept by who uses a network: it is passed to `step` every time, and `theta` is where it begins. Columns are
extra knowledge: `owner` says whose weight each is, and is None where no weight belongs to a state.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

from colrun.errors import InvalidValueError
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS

Theta = dict[str, Tensor]
"""Parameters by name."""
Gradients = dict[str, Tensor]
"""One tensor per named parameter, of that parameter's shape; zero where the weight is masked."""


class Network(ABC):
    """One network: named parameters, a state of shape (S, C), and a step. Nothing of it ever changes."""

    seed: int
    """Of whatever is drawn for it: w(0), signs, groups."""
    theta: Theta
    """θ(0); `w` is not part of θ."""
    masks: dict[str, Tensor]
    """True where the weight exists."""
    w: Tensor | None
    """w(0), of the numbers of state that the readout sees; None where the network predicts by itself."""
    kind: str = "this network"
    """For messages: a dense network."""
    fast: bool = False
    """Whether the engine has networks of this kind."""

    @abstractmethod
    def step(self, theta: Theta, x_t: Tensor, s_tm1: Tensor) -> Tensor:
        """s(t) of shape (S, C) from x(t) and s(t-1)."""

    @abstractmethod
    def initial_state(self) -> Tensor:
        """s(0), (S, C)."""

    @property
    @abstractmethod
    def inputs(self) -> int:
        """The length of x(t)."""

    def h(self, s_t: Tensor) -> Tensor:
        """What the readout sees: the first numbers of the first row of state."""
        assert self.w is not None
        return s_t[0, : self.w.shape[0]]

    def predict(self, theta: Theta, s_t: Tensor) -> Tensor:  # noqa: ARG002
        """y(t), of a network that predicts by itself."""
        raise InvalidValueError(f"{self.kind} has a readout w, and does not predict by itself.")

    @property
    def owner(self) -> dict[str, Tensor] | None:
        """The column that owns each weight, shaped to broadcast over it; None without columns."""
        return None

    @property
    def cell(self) -> str | None:
        """The name of its cell; None where it has none of colrun's."""
        return None

    @property
    def recurrent(self) -> bool:
        """Whether s(t) may depend on s(t-1)."""
        return True

    @property
    def dtype(self) -> torch.dtype:
        """Of everything in it."""
        return next(iter(self.theta.values())).dtype

    @property
    def parameter_count(self) -> int:
        """|θ|: the weights that exist."""
        return sum(int(mask.sum()) for mask in self.masks.values())

    def at(self, theta: Theta, w: Tensor | None) -> Self:
        """The same network with other weights."""
        return replace(self, theta=theta, w=w)  # type: ignore[type-var]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: a copy of an estimator's memory needs no network of its own."""
        return self


@dataclass(frozen=True)
class CellNetwork(Network):
    """A network of colrun's own: an architecture with one of its cells, and the random numbers of one seed."""

    architecture: Architecture
    seed: int
    theta: Theta
    masks: dict[str, Tensor]
    w: Tensor
    """w(0), shape (C,)."""

    @property
    def columns(self) -> int:
        """C, the number of h_i."""
        return self.architecture.columns

    @property
    def inputs(self) -> int:
        return self.architecture.inputs

    @property
    def cell(self) -> str:
        return self.architecture.cell

    @property
    def recurrent(self) -> bool:
        return self.architecture.recurrent

    @property
    def gates(self) -> tuple[str, ...]:
        """Names of the cell's gates."""
        return CELLS[self.architecture.cell].gates

    @property
    def states(self) -> int:
        """S, numbers of state per h_i."""
        return CELLS[self.architecture.cell].states

    def initial_state(self) -> Tensor:
        """Zero."""
        return torch.zeros(self.states, self.columns, dtype=self.w.dtype)
