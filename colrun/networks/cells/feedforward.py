"""Feedforward test network (eq. meta_used): h_i(t) = tanh(U_i f(t)). No recurrence: time is in w alone."""

import torch
from torch import Tensor

from colrun.networks.cells.base import Partials


class Feedforward:
    """No R, and columns see x(t) only; the released code keeps R h(t-1) here, the paper's equation does not."""

    def update(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Tensor:  # noqa: ARG002
        """tanh(a)."""
        return torch.tanh(a)

    def partials(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Partials:
        """∂h/∂a = 1 - tanh²(a); nothing else enters."""
        by_a = (1 - torch.tanh(a) ** 2).unsqueeze(-3)
        return Partials(by_a, torch.zeros_like(r).unsqueeze(-3), torch.zeros_like(s_tm1).unsqueeze(-3))


CELL = Feedforward()
