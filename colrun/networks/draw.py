"""What a seed draws for a network: weights before any mask, mask numbers and w(0), in float64. Imports no torch.

All lateral levels of a seed share these numbers, so that their masks are nested and comparisons are paired.
"""

import math
from typing import NamedTuple

import numpy as np

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.streams import Array, stream, unit_uniform

W_SCALE = 0.1  # w_i(0) ~ N(0, 0.1²): stated in the released code only
OWN_STATE = "A.own"
"""The stream of the last column of A, which multiplies h_i(t-1)."""


def bound(init: str, fan_in: int, fan_out: int) -> float:
    """Weights are uniform in ± this: `xavier` √(6/(fan-in + fan-out)) (Glorot and Bengio 2010), `pytorch` 1/√fan-in."""
    return math.sqrt(6 / (fan_in + fan_out)) if init == "xavier" else 1 / math.sqrt(fan_in)


def bias_bound(init: str, fan_in: int) -> float:
    """Biases are zero under `xavier`, uniform in ±1/√fan-in under `pytorch`."""
    return 0.0 if init == "xavier" else bound(init, fan_in, 1)


class Uniform(NamedTuple):
    """A tensor whose numbers are uniform in ±bound, from the stream of its name."""

    bound: float
    shape: tuple[int, ...]

    def draw(self, seed: int, name: str) -> Array:
        if self.bound == 0.0:
            return np.zeros(self.shape)
        return self.bound * (2 * unit_uniform(seed, name, *self.shape) - 1)


def weight(init: str, fan_in: int, fan_out: int, seed: int, name: str, *shape: int) -> Array:
    return Uniform(bound(init, fan_in, fan_out), shape).draw(seed, name)


def bias(init: str, fan_in: int, seed: int, name: str, *shape: int) -> Array:
    return Uniform(bias_bound(init, fan_in), shape).draw(seed, name)


def initial_w(seed: int, columns: int, name: str = "w") -> Array:
    """w(0), or another vector of readout weights drawn as it is, from the stream of that name."""
    return W_SCALE * stream(seed, name).standard_normal(columns)


def draw_weights(architecture: Architecture, seed: int) -> dict[str, Array]:
    """θ of a columnar network before any mask."""
    theta = {name: tensor.draw(seed, name) for name, tensor in tensors(architecture).items()}
    if OWN_STATE in theta:
        theta["A"] = np.concatenate([theta["A"], theta.pop(OWN_STATE)], axis=-1)
    return theta


def tensors(architecture: Architecture) -> dict[str, Uniform]:
    """What makes up θ, by stream; a network that sees its own state has A in two parts."""
    C, W, inputs, init = architecture.columns, architecture.width, architecture.inputs, architecture.switches.init
    found: dict[str, Uniform] = {}
    seen = inputs + architecture.sees_own_state
    if W > 0:
        found["A"] = Uniform(bound(init, seen, W), (C, W, inputs))
        if architecture.sees_own_state:
            found[OWN_STATE] = Uniform(bound(init, seen, W), (C, W, 1))
        found["b"] = Uniform(bias_bound(init, seen), (C, W))
        found["B"] = Uniform(bound(init, W, W), (C, W, W))
        found["c"] = Uniform(bias_bound(init, W), (C, W))
    # Fan-in of a gate's row, whatever is masked: (U_i, R_i), or (V_i, R_i) where width is 0.
    row = (C * W or inputs) + (C if architecture.recurrent else 0)
    for gate in CELLS[architecture.cell].gates:
        name, shape = ("U", (C, C, W)) if W > 0 else ("V", (C, inputs))
        found[f"{name}.{gate}"] = Uniform(bound(init, row, 1), shape)
        if architecture.recurrent:
            found[f"R.{gate}"] = Uniform(bound(init, row, 1), (C, C))
        if architecture.switches.state_bias:
            found[f"q.{gate}"] = Uniform(bias_bound(init, row), (C,))
    return found


def draw_numbers(architecture: Architecture, seed: int) -> dict[str, Array]:
    """One uniform number per maskable weight."""
    C, W = architecture.columns, architecture.width
    numbers = {}
    for gate in CELLS[architecture.cell].gates:
        if W > 0:
            numbers[f"U.{gate}"] = unit_uniform(seed, f"mask.U.{gate}", C, C, W)
        if architecture.recurrent:
            numbers[f"R.{gate}"] = unit_uniform(seed, f"mask.R.{gate}", C, C)
    return numbers


def masks_of(architecture: Architecture, numbers: dict[str, Array]) -> dict[str, Array]:
    """Which maskable weights exist: those whose number is below p, and those that are never masked."""
    own = np.eye(architecture.columns, dtype=np.bool_)
    chosen = architecture.switches
    never = {"U": own[..., None], "R": ~((own & chosen.mask_own_recurrence) | (~own & chosen.mask_recurrence))}
    return {name: (value < architecture.survival) | never[name[0]] for name, value in numbers.items()}
