"""An ordinary dense RNN with the same number of states and, as nearly as possible, the same number of weights.

    z(t) = relu(A [x(t); h(t-1)] + b)      f(t) = relu(B z(t) + c)      p_i(t) = U_i · f(t) + R_i · h(t-1)

All states share one hidden block of H units, so no weight belongs to a state: the network on which section 3 of the
paper defines Master-User for arbitrary groups of parameters.
"""

import math
from collections.abc import Iterable
from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.errors import InvalidValueError, positive_int
from colrun.networks.architecture import Architecture
from colrun.networks.base import CellNetwork
from colrun.networks.cells import CELLS, get_cell
from colrun.networks.draw import bias, initial_w, weight
from colrun.testbed import Sequence


class DenseNetwork(CellNetwork):
    """A dense RNN; `architecture` is the columnar network whose size it has, and C the number of its states."""

    kind = "a dense network"

    def step(self, theta: dict[str, Tensor], x_t: Tensor, s_tm1: Tensor, stop_lateral: bool = False) -> Tensor:
        """One forward step; there are no columns between which a gradient could be stopped.

        With a leading dimension of networks, `theta` is that of a `DenseBatch`, and the next dimension is of steps.
        """
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


class DenseCourse(NamedTuple):
    """What happened to N networks over T steps."""

    s: Tensor
    """(N, T+1, S, C)"""
    w: Tensor
    """(N, T, C): w before the update of that step."""
    delta: Tensor
    """(N, T)"""


@dataclass(frozen=True)
class DenseBatch:
    """Dense networks of one size, stacked, with the sequences they are shown."""

    networks: tuple[DenseNetwork, ...]
    theta: dict[str, Tensor]
    """(N, …); biases are (N, 1, …), so that they broadcast over steps."""
    x: Tensor
    """(N, T, inputs)"""
    y: Tensor
    """(N, T)"""

    @classmethod
    def stack(cls, networks: Several[DenseNetwork], sequences: Several[Sequence]) -> "DenseBatch":
        """Networks with their sequences."""
        theta = stack_named([network.theta for network in networks])
        x, y = (torch.stack([getattr(sequence, name) for sequence in sequences]) for name in ("x", "y"))
        return cls(tuple(networks), theta, x, y)

    def step(self, theta: dict[str, Tensor], x: Tensor, s_tm1: Tensor) -> Tensor:
        """s(t), (N, steps, S, C), from x (N, steps, inputs) and s(t-1)."""
        return self.networks[0].step(theta, x, s_tm1)

    def run(self, theta: dict[str, Tensor], step_size: float | None) -> DenseCourse:
        """All steps, with their graph where `theta` has one."""
        s_t = torch.stack([network.initial_state() for network in self.networks]).unsqueeze(1)
        w_t = torch.stack([network.w for network in self.networks])
        s, w, deltas = [s_t], [], []
        for t in range(self.x.shape[1]):
            s_t = self.step(theta, self.x[:, t : t + 1], s_t)
            h_t = s_t[:, 0, 0]
            delta = self.y[:, t] - (w_t * h_t).sum(-1)
            s.append(s_t)
            w.append(w_t)
            deltas.append(delta)
            if step_size is not None:
                w_t = w_t + step_size * delta.unsqueeze(-1) * h_t
        return DenseCourse(torch.cat(s, dim=1), torch.stack(w, dim=1), torch.stack(deltas, dim=1))

    def as_named(self, values: Iterable[Tensor]) -> dict[str, Tensor]:
        """Tensors in the order of θ by name, in the shapes of the networks' own: (N, …)."""
        own = self.networks[0].theta
        pairs = zip(own.items(), values, strict=True)
        return {name: value.reshape(len(self.networks), *one.shape) for (name, one), value in pairs}


def stack_named(each: Several[dict[str, Tensor]]) -> dict[str, Tensor]:
    """(N, …) by name, vectors as (N, 1, …)."""
    stacked = {name: torch.stack([values[name] for values in each]) for name in each[0]}
    return {name: value.unsqueeze(1) if value.ndim == 2 else value for name, value in stacked.items()}


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
