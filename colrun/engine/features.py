"""U of a batch, the largest of what seeds draw: whole, or only what survives."""

import math
from functools import cached_property

import numpy as np

from colrun import sfc64
from colrun.compiling import Array
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.draw import tensors
from colrun.networks.lateral import FEW


class Features:
    """U of N networks before any mask, (N, G, C, C, W), and the mask numbers: no more of them than is asked for.

    Where laterals are few, what does not survive is drawn and forgotten at once.
    """

    def __init__(self, architecture: Architecture, seeds: tuple[int, ...], dtype: str) -> None:
        gates = CELLS[architecture.cell].gates
        C, W = architecture.columns, architecture.width
        self.bound = tensors(architecture)[f"U.{gates[0]}"].bound
        self.shape = len(seeds), len(gates), C, C, W
        self.dtype = np.dtype(dtype)
        self._keys, self._mask_keys = (
            sfc64.keys(seeds, [f"{kind}.{gate}" for gate in gates]) for kind in ("U", "mask.U")
        )

    @cached_property
    def whole(self) -> Array:
        out = np.empty(self.shape, self.dtype)
        sfc64.fill(self._keys, self.bound, 2.0, out.reshape(*self.shape[:2], -1))
        return out

    @cached_property
    def numbers(self) -> Array:
        """One uniform number per weight."""
        out = np.empty(self.shape)
        sfc64.fill(self._mask_keys, 1.0, 1.0, out.reshape(*self.shape[:2], -1))
        return out

    @cached_property
    def _few(self) -> tuple[Array, Array, Array, Array]:
        N, G, C, _, W = self.shape
        own = np.empty((N, G, C, W), self.dtype)
        expected = FEW * N * G * C * (C - 1) * W
        room = int(expected + 6 * math.sqrt(expected)) + 1
        while True:
            places, numbers, values = np.empty(room, np.int64), np.empty(room), np.empty(room, self.dtype)
            count = sfc64.sift(self._keys, self._mask_keys, self.bound, FEW, own, places, numbers, values)
            if count <= room:
                return own, places[:count], numbers[:count], values[:count]
            room = count

    @property
    def own(self) -> Array:
        """(N, G, C, W): U_ii."""
        return self._few[0]

    def laterals(self, survival: float) -> tuple[Array, Array]:
        """Flat places and values of the lateral weights that survive, where these are few."""
        _, places, numbers, values = self._few
        alive = numbers < survival
        return places[alive], values[alive]


class GivenFeatures(Features):
    """U as it was given."""

    def __init__(self, whole: Array, exists: Array) -> None:
        self.__dict__["whole"] = whole
        self.shape, self.dtype = whole.shape, whole.dtype
        self.exists = exists

    @property
    def own(self) -> Array:
        return np.ascontiguousarray(np.diagonal(self.whole, axis1=2, axis2=3).swapaxes(-1, -2))

    def laterals(self, survival: float) -> tuple[Array, Array]:  # noqa: ARG002  they are known
        places = lateral_places(self.exists)
        return places, self.whole.reshape(-1)[places]


def lateral_places(exists: Array) -> Array:
    """Flat places in U of the lateral weights that exist."""
    places = np.flatnonzero(exists)
    _, _, to, source, _ = np.unravel_index(places, exists.shape)
    found: Array = places[to != source]
    return found
