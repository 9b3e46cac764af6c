"""Additive cell (eq. recurrent_used): h_i(t) = h_i(t-1) + tanh(p_i(t)), p = a + r."""

import torch
from torch import Tensor

from colrun.networks.cells.base import Partials


class Additive:
    """The state adds up what each step says, so it never decays by itself."""

    def update(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Tensor:
        """h(t-1) + tanh(p)."""
        return s_tm1 + torch.tanh(a + r)

    def partials(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Partials:
        """∂h/∂p = 1 - tanh²(p); ∂h/∂h(t-1) = 1."""
        by_p = (1 - torch.tanh(a + r) ** 2).unsqueeze(-3)
        return Partials(by_p, by_p, torch.ones_like(s_tm1).unsqueeze(-3))


CELL = Additive()
