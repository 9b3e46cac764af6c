"""The synthetic test-bed: random inputs, random targets, and the named random streams behind every number.

Each quantity of a network (`x`, `y`, `w`, one tensor of weights, one tensor of mask numbers) is drawn from a stream of
its own, which depends on the seed and the quantity's name only. So the same seed gives the same data and weights
whatever the batch, the order or the backend, and changing the lateral ratio or the step size changes nothing else.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from colrun.errors import InvalidValueError, positive_int

TARGET_RANGE = 50.0  # y*(t) ~ Uniform(-50, 50)
W_SCALE = 0.1  # w_i(0) ~ N(0, 0.1²): stated in the released code only


def stream_key(seed: int, name: str) -> int:
    """The 128-bit key of a stream."""
    positive_int(seed, "seed", least=0)
    return int.from_bytes(hashlib.blake2b(f"colrun/{name}/{seed}".encode(), digest_size=16).digest(), "little")


def stream(seed: int, name: str) -> np.random.Generator:
    """The random stream of one quantity."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(stream_key(seed, name))))


def unit_uniform(seed: int, name: str, *shape: int) -> Tensor:
    """Numbers uniform in [0, 1), always drawn in float64 so that every dtype sees the same draws."""
    return torch.from_numpy(stream(seed, name).random(shape))


@dataclass(frozen=True)
class Sequence:
    """What one network is shown: inputs `x` of shape (steps, inputs) and targets `y` of shape (steps,)."""

    x: Tensor
    y: Tensor

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or self.y.shape != self.x.shape[:1] or 0 in self.x.shape:
            raise InvalidValueError(
                f"a sequence needs x of shape (steps, inputs) and y of shape (steps,), with at least one step and one "
                f"input; got {tuple(self.x.shape)} and {tuple(self.y.shape)}."
            )
        if self.x.dtype != self.y.dtype or not self.x.is_floating_point():
            raise InvalidValueError(
                f"x and y must share one floating dtype (float32 or float64); got {self.x.dtype} and {self.y.dtype}."
            )

    @property
    def steps(self) -> int:
        """T."""
        return self.x.shape[0]


def sequence(seed: int, steps: int = 50, inputs: int = 50, dtype: torch.dtype = torch.float64) -> Sequence:
    """The test-bed's data for one seed: fair independent bits in, targets uniform in (-50, 50)."""
    positive_int(steps, "steps")
    positive_int(inputs, "inputs")
    x = (unit_uniform(seed, "x", steps, inputs) < 0.5).to(dtype)
    y = (TARGET_RANGE * (2 * unit_uniform(seed, "y", steps) - 1)).to(dtype)
    return Sequence(x, y)


def initial_w(seed: int, columns: int) -> Tensor:
    """w(0)."""
    return W_SCALE * torch.from_numpy(stream(seed, "w").standard_normal(columns))


def check_step_size(step_size: object) -> float | None:
    """The step size α of the learning `w`, or None where `w` is fixed."""
    if step_size is None:
        return None
    if isinstance(step_size, (int, float)) and not isinstance(step_size, bool) and 0 < step_size < float("inf"):
        return float(step_size)
    raise InvalidValueError(f"step size {step_size!r} must be a finite number above 0, or None where w does not learn.")
