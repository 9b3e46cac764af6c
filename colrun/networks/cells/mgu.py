"""One-gate cell: h_i = g h_i(t-1) + (1-g) tanh(p_i), g = σ(p^g): what the released code runs under the name GRU."""

import torch
from torch import Tensor

from colrun.networks.cells.base import Partials


class MGU:
    """Gates in the order g, p."""

    def update(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Tensor:
        """g h(t-1) + (1-g) tanh(p)."""
        g, n = self._gates(a, r)
        return (g * s_tm1[..., 0, :] + (1 - g) * n).unsqueeze(-2)

    def partials(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Partials:
        """∂h/∂p^g = g(1-g)(h(t-1) - n), ∂h/∂p = (1-g)(1-n²), ∂h/∂h(t-1) = g."""
        g, n = self._gates(a, r)
        by_g = g * (1 - g) * (s_tm1[..., 0, :] - n)
        by_p = torch.stack([by_g, (1 - g) * (1 - n**2)], dim=-2).unsqueeze(-3)
        return Partials(by_p, by_p, g.unsqueeze(-2).unsqueeze(-3))

    def _gates(self, a: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
        p = a + r
        return torch.sigmoid(p[..., 0, :]), torch.tanh(p[..., 1, :])


CELL = MGU()
