"""What every learner's part in a group of lanes has in common."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from colrun.lanes.forward import Steps
from colrun.lanes.layout import Drawn, Listed, Net
from colrun.lanes.vectors import LANES
from colrun.networks.architecture import Architecture
from colrun.streams import Array


class Given:
    """Consecutive steps of one group: x (steps, inputs, LANES), y, counted (steps, LANES), noise (steps, n, LANES)."""

    def __init__(self, x: Array, y: Array, counted: Array, noise: Array) -> None:
        self.x, self.y, self.counted, self.noise = x, y, counted, noise
        self.any_counted = np.asarray(counted.any(1))

    @property
    def stream(self) -> tuple[Array, ...]:
        return self.x, self.y, self.counted, self.any_counted


def zeros(dtype: np.dtype[np.floating], *shape: int) -> Array:
    """(…, LANES)"""
    return np.zeros((*shape, LANES), dtype)


def new_steps(net: Net, slots: int, dtype: np.dtype[np.floating]) -> Steps:
    gates, D = net.G * net.C, int(net.D_start[-1])
    sizes = (
        slots * net.seen, gates, gates, slots * gates * net.S, slots * gates * net.S,
        slots * net.S**2 * net.C, slots * D, slots * D, slots * net.Q**2,
    )  # fmt: skip
    return Steps(*(zeros(dtype, size) for size in sizes))


class Setting(NamedTuple):
    """What a group of lanes is made of."""

    architecture: Architecture
    net: Net
    listed: Listed
    drawn: list[Drawn]
    seeds: list[int]
    number: int
    """After the learner's name, 0 if there is none"""
    meta: bool
    dtype: np.dtype[np.floating]


class Method(ABC):
    """An estimator at work on one group. What it must not forget between steps is in `memory`."""

    own_links = own_features = False
    joined = True
    """What `layout` is asked for."""
    through_lms = True
    """Whether, with meta, it follows τ = (s, w, w_0); otherwise it needs s alone."""

    def __init__(self, of: Setting) -> None:
        self.net, self.listed, self.meta, self.dtype = of.net, of.listed, of.meta, of.dtype
        self.memory: dict[str, Array] = {}
        self.work: tuple[Array, ...] = ()
        self.prepare(of)

    @abstractmethod
    def prepare(self, of: Setting) -> None:
        """What it needs; the first array of `work` is for the gradient."""

    @abstractmethod
    def run(self, rule: Any, now: Any, given: Given, begin: int) -> None:
        """Consecutive steps."""

    @property
    def gradient(self) -> Array:
        """(weights, LANES) of the last step."""
        return self.work[0]

    @property
    def noise(self) -> int:
        """How many signs a step takes."""
        return 0
