"""Named random streams: every quantity of a seed has one of its own.

Each quantity (`x`, `y`, `w`, one tensor of weights, one tensor of mask numbers) is drawn from a stream that depends on
the seed and the quantity's name only. So the same seed gives the same data and weights whatever the batch, the order or
the backend, and changing the lateral ratio or the step size changes nothing else.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colrun.errors import positive_int

Array = NDArray[Any]


def stream_key(seed: int, name: str) -> int:
    """The 128-bit key of a stream."""
    seed = positive_int(seed, "seed", least=0)
    return int.from_bytes(hashlib.blake2b(f"colrun/{name}/{seed}".encode(), digest_size=16).digest(), "little")


def stream(seed: int, name: str) -> np.random.Generator:
    """The random stream of one quantity."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(stream_key(seed, name))))


def unit_uniform(seed: int, name: str, *shape: int) -> Array:
    """Numbers uniform in [0, 1), always drawn in float64 so that every dtype sees the same draws."""
    return stream(seed, name).random(shape)
