"""What a seed draws for a network: weights before any mask, mask numbers and w(0), in float64. Imports no torch.

All lateral levels of a seed share these numbers, so that their masks are nested and comparisons are paired.
"""

import math

import numpy as np

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.streams import Array, stream, unit_uniform

W_SCALE = 0.1  # w_i(0) ~ N(0, 0.1²): stated in the released code only


def weight(init: str, fan_in: int, fan_out: int, seed: int, name: str, *shape: int) -> Array:
    """Uniform in ±bound: `xavier` √(6/(fan-in + fan-out)) (Glorot and Bengio 2010), `pytorch` 1/√fan-in."""
    bound = math.sqrt(6 / (fan_in + fan_out)) if init == "xavier" else 1 / math.sqrt(fan_in)
    return bound * (2 * unit_uniform(seed, name, *shape) - 1)


def bias(init: str, fan_in: int, seed: int, name: str, *shape: int) -> Array:
    """Zero under `xavier`, uniform in ±1/√fan-in under `pytorch`."""
    if init == "xavier":
        return np.zeros(shape)
    return weight(init, fan_in, 1, seed, name, *shape)


def initial_w(seed: int, columns: int, name: str = "w") -> Array:
    """w(0), or another vector of readout weights drawn as it is, from the stream of that name."""
    return W_SCALE * stream(seed, name).standard_normal(columns)


def draw_weights(architecture: Architecture, seed: int) -> dict[str, Array]:
    """θ of a columnar network before any mask."""
    C, W, inputs = architecture.columns, architecture.width, architecture.inputs
    init = architecture.switches.init
    if W == 0:
        return draw_without_layers(architecture, seed)
    seen = inputs + architecture.sees_own_state
    row = C * W + (C if architecture.recurrent else 0)  # fan-in of a gate's row (U_i, R_i)
    A = weight(init, seen, W, seed, "A", C, W, inputs)
    if architecture.sees_own_state:
        A = np.concatenate([A, weight(init, seen, W, seed, "A.own", C, W, 1)], axis=-1)
    theta = {
        "A": A,
        "b": bias(init, seen, seed, "b", C, W),
        "B": weight(init, W, W, seed, "B", C, W, W),
        "c": bias(init, W, seed, "c", C, W),
    }
    for gate in CELLS[architecture.cell].gates:
        theta[f"U.{gate}"] = weight(init, row, 1, seed, f"U.{gate}", C, C, W)
        if architecture.recurrent:
            theta[f"R.{gate}"] = weight(init, row, 1, seed, f"R.{gate}", C, C)
        if architecture.switches.state_bias:
            theta[f"q.{gate}"] = bias(init, row, seed, f"q.{gate}", C)
    return theta


def draw_without_layers(architecture: Architecture, seed: int) -> dict[str, Array]:
    """θ where width is 0: `V.g` (C, inputs), `R.g` (C, C) and `q.g` (C) of every gate g; fan-in whatever is masked."""
    C, inputs, init = architecture.columns, architecture.inputs, architecture.switches.init
    row = inputs + (C if architecture.recurrent else 0)
    theta = {}
    for gate in CELLS[architecture.cell].gates:
        theta[f"V.{gate}"] = weight(init, row, 1, seed, f"V.{gate}", C, inputs)
        if architecture.recurrent:
            theta[f"R.{gate}"] = weight(init, row, 1, seed, f"R.{gate}", C, C)
        if architecture.switches.state_bias:
            theta[f"q.{gate}"] = bias(init, row, seed, f"q.{gate}", C)
    return theta


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
