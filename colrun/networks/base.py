"""What every network offers to the online forms: named parameters, masks, and one forward step written for autograd."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS

Gradients = dict[str, Tensor]
"""One tensor per named parameter, of that parameter's shape; zero where the weight is masked."""


@dataclass(frozen=True)
class Network(ABC):
    """One network: an architecture and the random numbers of one seed."""

    architecture: Architecture
    seed: int
    theta: dict[str, Tensor]
    """φ and u of every column by name; `w` is not part of θ."""
    masks: dict[str, Tensor]
    """True where the weight exists."""
    w: Tensor
    """w(0), shape (C,)."""

    @abstractmethod
    def step(self, theta: dict[str, Tensor], x_t: Tensor, s_tm1: Tensor, stop_lateral: bool = False) -> Tensor:
        """s(t) of shape (..., S, C) from x(t) of shape (..., inputs) and s(t-1); `s[..., 0, :]` is h."""

    @property
    def columns(self) -> int:
        """C, the number of h_i."""
        return self.architecture.columns

    @property
    def gates(self) -> tuple[str, ...]:
        """Names of the cell's gates."""
        return CELLS[self.architecture.cell].gates

    @property
    def states(self) -> int:
        """S, numbers of state per h_i."""
        return CELLS[self.architecture.cell].states

    @property
    def parameter_count(self) -> int:
        """|θ|: the weights that exist."""
        return sum(int(mask.sum()) for mask in self.masks.values())

    def zero_state(self) -> Tensor:
        """s(0)."""
        return torch.zeros(self.states, self.columns, dtype=self.w.dtype)
