"""Initial weights: unit uniform numbers from the tensor's own stream, scaled by what `init` says."""

import math

import torch
from torch import Tensor

from colrun.testbed import unit_uniform


def weight(init: str, fan_in: int, fan_out: int, seed: int, name: str, *shape: int) -> Tensor:
    """Uniform in ±bound: `xavier` √(6/(fan-in + fan-out)) (Glorot and Bengio 2010), `pytorch` 1/√fan-in."""
    bound = math.sqrt(6 / (fan_in + fan_out)) if init == "xavier" else 1 / math.sqrt(fan_in)
    return bound * (2 * unit_uniform(seed, name, *shape) - 1)


def bias(init: str, fan_in: int, seed: int, name: str, *shape: int) -> Tensor:
    """Zero under `xavier`, uniform in ±1/√fan-in under `pytorch`."""
    if init == "xavier":
        return torch.zeros(shape, dtype=torch.float64)
    return weight(init, fan_in, 1, seed, name, *shape)
