"""Gated recurrent unit (Cho et al. 2014), in the form in which the reset gate acts on R h(t-1):

    g = σ(p^g)    r = σ(p^r)    n = tanh(a^n + r · (R^n h(t-1)))    h = (1-g) n + g h(t-1)

where a^n = U^n f and, if there is one, the bias of n, which thus stands outside r · (…).
"""

import torch
from torch import Tensor

from colrun.networks.cells.base import Partials


class GRU:
    """Gates in the order g, r, n."""

    def update(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Tensor:
        """(1-g) n + g h(t-1)."""
        g, _, n = self._gates(a, r)
        return ((1 - g) * n + g * s_tm1[..., 0, :]).unsqueeze(-2)

    def partials(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Partials:
        """The chain rule through n for the reset gate; `by_r` differs from `by_a` in n only, by the factor r."""
        g, reset, n = self._gates(a, r)
        h_tm1 = s_tm1[..., 0, :]
        by_g = g * (1 - g) * (h_tm1 - n)
        by_n = (1 - g) * (1 - n**2)
        by_reset = by_n * r[..., 2, :] * reset * (1 - reset)
        by_a = torch.stack([by_g, by_reset, by_n], dim=-2).unsqueeze(-3)
        by_r = torch.stack([by_g, by_reset, by_n * reset], dim=-2).unsqueeze(-3)
        return Partials(by_a, by_r, g.unsqueeze(-2).unsqueeze(-3))

    def _gates(self, a: Tensor, r: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        g = torch.sigmoid(a[..., 0, :] + r[..., 0, :])
        reset = torch.sigmoid(a[..., 1, :] + r[..., 1, :])
        n = torch.tanh(a[..., 2, :] + reset * r[..., 2, :])
        return g, reset, n


CELL = GRU()
