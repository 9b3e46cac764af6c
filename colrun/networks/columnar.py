"""The columnar network (Col-NN): C columns of width W with scalar states, sparsely connected.

    z_i(t) = relu(A_i [x(t); h_i(t-1)] + b_i)
    f_i(t) = relu(B_i z_i(t) + c_i)
    p_i(t) = Σ_j U_ij · f_j(t) + R_i · h(t-1) [+ q_i]        for every gate of the cell

θ by name, first index always the column that owns the weight: `A` (C, W, inputs [+1]), `b` (C, W), `B` (C, W, W),
`c` (C, W) and, for each gate such as `p`, `U.p` (C, C, W), `R.p` (C, C) and, with `state_bias`, `q.p` (C).
Where W is 0 there are no features: a column sees the input itself, V_i · x(t) in place of U f, `V.p` (C, inputs).
"""

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.errors import positive_int
from colrun.networks.architecture import Architecture
from colrun.networks.base import CellNetwork
from colrun.networks.cells import get_cell
from colrun.networks.draw import draw_numbers, draw_weights, initial_w, masks_of


class ColumnarNetwork(CellNetwork):
    """Columns that share nothing but their lateral weights."""

    kind = "a columnar network"

    @property
    def fast(self) -> bool:  # type: ignore[override]
        """Where there are features."""
        return self.architecture.width > 0

    @property
    def lateral_weights(self) -> int:
        """Surviving lateral weights over all gates: of U, or where there are no features, of R."""
        kind = "U" if self.architecture.width else "R"
        masks = [mask for name, mask in self.masks.items() if name.startswith(f"{kind}.")]
        return sum(int(mask.sum() - mask.diagonal(dim1=0, dim2=1).sum()) for mask in masks)

    @property
    def owner(self) -> dict[str, Tensor]:
        """The column that owns each weight, the first index of every tensor; shaped to broadcast over the rest."""
        own = torch.arange(self.columns)
        return {name: own.reshape(-1, *[1] * (value.ndim - 1)) for name, value in self.theta.items()}

    def step(self, theta: dict[str, Tensor], x_t: Tensor, s_tm1: Tensor, stop_lateral: bool = False) -> Tensor:
        """One forward step, the reference form."""
        return self.layers(theta, x_t, s_tm1, stop_lateral).s

    def layers(self, theta: dict[str, Tensor], x_t: Tensor, s_tm1: Tensor, stop_lateral: bool = False) -> "Layered":
        """The same with all that is in between.

        With `stop_lateral` (section 4.1 of the paper) no gradient flows from a column's state into another column, so
        that one backward pass from Σ_i h_i(t) gives ∂h_i(t)/∂θ_i and ∂h_i(t)/∂h_i(t-1) for all i at once.
        """
        h_tm1 = s_tm1[..., 0, :]
        column_input = x_t.unsqueeze(-2).expand(*x_t.shape[:-1], self.columns, x_t.shape[-1])
        if self.architecture.sees_own_state:
            column_input = torch.cat([column_input, h_tm1.unsqueeze(-1)], dim=-1)
        if not self.architecture.width:
            none = column_input[..., :0]
            a = [(theta[f"V.{gate}"] * column_input).sum(-1) for gate in self.gates]
            return Layered(none, none, none, none, column_input, *self.gated(theta, a, h_tm1, s_tm1, stop_lateral))
        first = torch.einsum("cwk,...ck->...cw", theta["A"], column_input) + theta["b"]
        z_t = torch.relu(first)
        second = torch.einsum("cwv,...cv->...cw", theta["B"], z_t) + theta["c"]
        f_t = torch.relu(second)
        a = [self.from_features(theta, gate, f_t, stop_lateral) for gate in self.gates]
        return Layered(column_input, first, z_t, second, f_t, *self.gated(theta, a, h_tm1, s_tm1, stop_lateral))

    def gated(
        self, theta: dict[str, Tensor], by_gate: list[Tensor], h_tm1: Tensor, s_tm1: Tensor, stop_lateral: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What each gate sees of the features and of the states, and s(t)."""
        a, r = [], []
        for gate, a_gate in zip(self.gates, by_gate, strict=True):
            a.append(a_gate + theta[f"q.{gate}"] if f"q.{gate}" in theta else a_gate)
            recurrent = self.architecture.recurrent
            r.append(self.from_states(theta, gate, h_tm1, stop_lateral) if recurrent else torch.zeros_like(a_gate))
        a_t, r_t = torch.stack(a, -2), torch.stack(r, -2)
        return a_t, r_t, get_cell(self.architecture.cell).update(a_t, r_t, s_tm1)

    def from_features(self, theta: dict[str, Tensor], gate: str, f_t: Tensor, stop_lateral: bool) -> Tensor:
        """U f of a gate."""
        U = self._existing(theta, f"U.{gate}")
        if not stop_lateral:
            return torch.einsum("ijw,...jw->...i", U, f_t)
        # The value added is zero; the gradient is that of the column's own features.
        own = torch.diagonal(U, dim1=0, dim2=1).T
        return torch.einsum("ijw,...jw->...i", U, f_t.detach()) + (own * (f_t - f_t.detach())).sum(-1)

    def from_states(self, theta: dict[str, Tensor], gate: str, h_tm1: Tensor, stop_lateral: bool) -> Tensor:
        """R h(t-1) of a gate."""
        R = self._existing(theta, f"R.{gate}")
        if not stop_lateral:
            return torch.einsum("ij,...j->...i", R, h_tm1)
        return torch.einsum("ij,...j->...i", R, h_tm1.detach()) + torch.diagonal(R) * (h_tm1 - h_tm1.detach())

    def _existing(self, theta: dict[str, Tensor], name: str) -> Tensor:
        return theta[name] * self.masks[name] if name in self._masked else theta[name]

    @cached_property
    def _masked(self) -> frozenset[str]:
        """Tensors of which some weights do not exist."""
        return frozenset(name for name, mask in self.masks.items() if not mask.all())


class Layered(NamedTuple):
    """One step, layer by layer: what each layer sees and its pre-activations."""

    seen: Tensor
    """(..., C, inputs [+ 1])"""
    first: Tensor
    """(..., C, W): A [x; h_i] + b"""
    z: Tensor
    second: Tensor
    """(..., C, W): B z + c"""
    f: Tensor
    """What U multiplies, or V where there are no layers: those before it are then empty."""
    a: Tensor
    """(..., G, C): U f + q"""
    r: Tensor
    """(..., G, C): R h(t-1)"""
    s: Tensor
    """(..., S, C)"""


def build(architecture: Architecture, seed: int, dtype: torch.dtype = torch.float64) -> ColumnarNetwork:
    """Draw the network of a seed. Lateral levels share its weights, and their masks are nested."""
    seed = positive_int(seed, "seed", least=0)
    drawn = {name: torch.from_numpy(value) for name, value in draw_weights(architecture, seed).items()}
    maskable = masks_of(architecture, draw_numbers(architecture, seed))
    masks = {
        name: torch.from_numpy(maskable[name]) if name in maskable else torch.ones(value.shape, dtype=torch.bool)
        for name, value in drawn.items()
    }
    theta = {name: (value * masks[name]).to(dtype) for name, value in drawn.items()}
    w = torch.from_numpy(initial_w(seed, architecture.columns)).to(dtype)
    return ColumnarNetwork(architecture, seed, theta, masks, w)
