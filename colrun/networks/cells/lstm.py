"""Long short-term memory (Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000), a scalar memory per column:

    m = σ(p^f) m(t-1) + σ(p^i) tanh(p)        h = σ(p^o) tanh(m)

The state is the pair (h, m), stored in this order.
"""

import torch
from torch import Tensor

from colrun.networks.cells.base import Partials


class LSTM:
    """Gates in the order f, i, o, p."""

    def update(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Tensor:
        """The pair (h, m)."""
        f, i, o, n = self._gates(a, r)
        m = f * s_tm1[..., 1, :] + i * n
        return torch.stack([o * torch.tanh(m), m], dim=-2)

    def partials(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Partials:
        """m's derivatives, then h's through tanh(m), and the output gate's on h alone."""
        f, i, o, n = self._gates(a, r)
        m_tm1 = s_tm1[..., 1, :]
        tanh_m = torch.tanh(f * m_tm1 + i * n)
        zero = torch.zeros_like(f)
        m_by_p = torch.stack([f * (1 - f) * m_tm1, i * (1 - i) * n, zero, i * (1 - n**2)], dim=-2)
        h_by_m = o * (1 - tanh_m**2)
        h_by_o = torch.stack([zero, zero, o * (1 - o) * tanh_m, zero], dim=-2)
        by_p = torch.stack([h_by_m.unsqueeze(-2) * m_by_p + h_by_o, m_by_p], dim=-3)
        by_s = torch.stack([torch.stack([zero, h_by_m * f], dim=-2), torch.stack([zero, f], dim=-2)], dim=-3)
        return Partials(by_p, by_p, by_s)

    def _gates(self, a: Tensor, r: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        p = a + r
        f, i, o = torch.sigmoid(p[..., :3, :]).unbind(-2)
        return f, i, o, torch.tanh(p[..., 3, :])


CELL = LSTM()
