"""An ordinary dense RNN with the same number of states and, as nearly as possible, the same number of weights.

    z(t) = relu(A [x(t); h(t-1)] + b)      f(t) = relu(B z(t) + c)      p_i(t) = U_i · f(t) + R_i · h(t-1)

All states share one hidden block of H units, so no weight belongs to a state: the network on which section 3 of the
paper defines Master-User for arbitrary groups of parameters.
"""

import math

import torch
from torch import Tensor

from colrun.errors import InvalidValueError, positive_int
from colrun.networks.architecture import Architecture
from colrun.networks.base import CellNetwork
from colrun.networks.cells import CELLS, get_cell
from colrun.networks.draw import bias, initial_w, weight


class DenseNetwork(CellNetwork):
    """A dense RNN; `architecture` is the columnar network whose size it has, and C the number of its states."""

    kind = "a dense network"

    def step(self, theta: dict[str, Tensor], x_t: Tensor, s_tm1: Tensor, stop_lateral: bool = False) -> Tensor:
        """One forward step; there are no columns between which a gradient could be stopped."""
        if stop_lateral:
            raise InvalidValueError(
                "a dense network has no columns between which gradients could be stopped; use master-user-groups."
            )
        h_tm1 = s_tm1[..., 0, :]
        seen = torch.cat([x_t, h_tm1], dim=-1) if self.architecture.sees_own_state else x_t
        z_t = torch.relu(seen @ theta["A"].mT + theta["b"])
        f_t = torch.relu(z_t @ theta["B"].mT + theta["c"])
        a, r = [], []
        for gate in self.gates:
            a_gate = f_t @ theta[f"U.{gate}"].mT
            a.append(a_gate + theta[f"q.{gate}"] if f"q.{gate}" in theta else a_gate)
            r.append(h_tm1 @ theta[f"R.{gate}"].mT if self.architecture.recurrent else torch.zeros_like(a_gate))
        return get_cell(self.architecture.cell).update(torch.stack(a, -2), torch.stack(r, -2), s_tm1)


def hidden_units(architecture: Architecture) -> int:
    """H such that the dense network has about as many weights as the fully connected columnar one."""
    C, W, inputs = architecture.columns, architecture.width, architecture.inputs
    G = len(CELLS[architecture.cell].gates)
    columnar = C * (W * (inputs + architecture.sees_own_state) + W + W * W + W) + G * C * C * W
    # H² + H (inputs [+ C] + 2 + G C) = columnar; R and q are the same in both.
    linear = inputs + (C if architecture.sees_own_state else 0) + 2 + G * C
    return max(1, round((math.sqrt(linear**2 + 4 * columnar) - linear) / 2))


def build_dense(architecture: Architecture, seed: int, dtype: torch.dtype = torch.float64) -> DenseNetwork:
    """Draw the dense network of a seed, initialised by the architecture's `init`."""
    seed = positive_int(seed, "seed", least=0)
    C, inputs, init = architecture.columns, architecture.inputs, architecture.switches.init
    H = hidden_units(architecture)
    seen = inputs + (C if architecture.sees_own_state else 0)
    row = H + (C if architecture.recurrent else 0)
    theta = {
        "A": weight(init, seen, H, seed, "dense.A", H, seen),
        "b": bias(init, seen, seed, "dense.b", H),
        "B": weight(init, H, H, seed, "dense.B", H, H),
        "c": bias(init, H, seed, "dense.c", H),
    }
    for gate in CELLS[architecture.cell].gates:
        theta[f"U.{gate}"] = weight(init, row, 1, seed, f"dense.U.{gate}", C, H)
        if architecture.recurrent:
            theta[f"R.{gate}"] = weight(init, row, 1, seed, f"dense.R.{gate}", C, C)
        if architecture.switches.state_bias:
            theta[f"q.{gate}"] = bias(init, row, seed, f"dense.q.{gate}", C)
    drawn = {name: torch.from_numpy(value).to(dtype) for name, value in theta.items()}
    masks = {name: torch.ones(value.shape, dtype=torch.bool) for name, value in drawn.items()}
    return DenseNetwork(architecture, seed, drawn, masks, torch.from_numpy(initial_w(seed, C)).to(dtype))
