"""Batches: networks of one architecture, stacked, with the sequences they are shown.

What does not depend on the lateral level (columns, data) is kept apart from what does (U, R), and is drawn once for all
levels and step sizes of the same seeds.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from colrun import sfc64
from colrun.compiling import Array
from colrun.engine.features import Features, GivenFeatures, lateral_places
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.draw import OWN_STATE, initial_w, masks_of, tensors
from colrun.networks.lateral import FEW
from colrun.tasks import stream

Named = dict[str, Array]
"""One array per named parameter, (N, …)."""


@dataclass(frozen=True)
class Layers:
    """Columns and data of N networks."""

    A_x: Array
    """(N, C, W, inputs)"""
    A_h: Array
    """(N, C, W): the last column of A; zero where columns do not see their state."""
    b: Array
    B: Array
    c: Array
    w: Array
    """(N, C): w(0)"""
    x: Array
    """(N, T, inputs)"""
    y: Array
    """(N, T)"""
    counted: Array
    """(N, T): whether the step has a loss; where it has none w does not learn either"""

    @cached_property
    def B_t(self) -> Array:
        """B transposed, in memory."""
        return np.ascontiguousarray(self.B.swapaxes(-1, -2))

    @cached_property
    def pre_x(self) -> Array:
        """(N, C, T, W): A x + b without the own state."""
        found: Array = self.x[:, None] @ self.A_x.swapaxes(-1, -2)
        found += self.b[:, :, None]
        return found

    @cached_property
    def stateless(self) -> tuple[Array, Array]:
        """z, with a 1 at the end for the bias of the next layer, and f, where columns do not see their state."""
        N, C, T, W = self.pre_x.shape
        z = np.ones((N, C, T, W + 1), self.pre_x.dtype)
        np.maximum(self.pre_x, 0, out=z[..., :W])
        f: Array = z[..., :W] @ self.B_t
        f += self.c[:, :, None]
        return z, np.maximum(f, 0, out=f)


@dataclass(frozen=True)
class Drawn:
    """All that seeds draw, before any mask: U, R and q hold all gates, (N, G, …); there may be no R and no q."""

    layers: Layers
    features: Features
    R: Array | None
    R_numbers: Array | None
    """One uniform number per weight."""
    q: Array | None


@dataclass(frozen=True)
class Batch:
    """Networks of one architecture and dtype: what their seeds drew, and which weights exist."""

    architecture: Architecture
    seeds: tuple[int, ...]
    drawn: Drawn
    given: Named | None = None
    """Masks by kind, where they do not come from numbers."""

    @classmethod
    def of(
        cls,
        architecture: Architecture,
        seeds: tuple[int, ...],
        theta: Named,
        masks: Named,
        w: Array,
        x: Array,
        y: Array,
        counted: Array | None = None,
    ) -> "Batch":
        """Networks as they are: θ and masks by name, (N, …), w(0) and the data as in `Layers`."""
        counted = np.ones(y.shape, dtype=np.bool_) if counted is None else counted
        A, inputs = theta["A"], architecture.inputs
        A_h = A[..., inputs] if architecture.sees_own_state else np.zeros(A.shape[:-1], A.dtype)
        given = (A[..., :inputs], A_h, theta["b"], theta["B"], theta["c"], w, x, y, counted)
        layers = Layers(*map(np.ascontiguousarray, given))
        weights, exists = _by_gate(architecture, theta), _by_gate(architecture, masks)
        features = GivenFeatures(weights["U"], exists["U"])
        drawn = Drawn(layers, features, weights.get("R"), None, weights.get("q"))
        return cls(architecture, seeds, drawn, exists)

    @classmethod
    def draw(
        cls, architecture: Architecture, seeds: tuple[int, ...], steps: int, dtype: str, task: str = "random"
    ) -> "Batch":
        """The networks of these seeds, with their data of a task; `dtype` is "float32" or "float64"."""
        return cls(architecture, seeds, _drawn(replace(architecture, lateral=0.0), seeds, steps, dtype, task))

    @property
    def layers(self) -> Layers:
        """Columns and data."""
        return self.drawn.layers

    @cached_property
    def U_exists(self) -> Array:
        """(N, G, C, C, W)"""
        if self.given is not None:
            return self.given["U"]
        return masks_of(self.architecture, {"U": self.drawn.features.numbers})["U"]

    @cached_property
    def U(self) -> Array:
        """(N, G, C, C, W), zero where masked, here as in every `step`: a masked weight does not exist."""
        whole = self.given is None and self.architecture.survival >= 1.0
        return self.drawn.features.whole if whole else self.drawn.features.whole * self.U_exists

    @cached_property
    def R_exists(self) -> Array:
        """(N, G, C, C): nothing where the cell has no R."""
        if not self.architecture.recurrent:
            return np.zeros(self.R.shape, dtype=np.bool_)
        if self.given is not None:
            return self.given["R"]
        assert self.drawn.R_numbers is not None
        return masks_of(self.architecture, {"R": self.drawn.R_numbers})["R"]

    @cached_property
    def R(self) -> Array:
        """(N, G, C, C), zero where masked."""
        if self.drawn.R is None:
            return np.zeros(self.drawn.features.shape[:4], self.layers.w.dtype)
        return self.drawn.R * self.R_exists

    @cached_property
    def q(self) -> Array:
        """(N, G, C), zero where there is none."""
        if self.drawn.q is not None:
            return self.drawn.q
        return np.zeros(self.drawn.features.shape[:3], self.layers.w.dtype)

    @cached_property
    def laterals(self) -> tuple[Array, Array]:
        """Flat places in U and values of the lateral weights that exist; no values where they are not few."""
        if self.architecture.survival < FEW:
            return self.drawn.features.laterals(self.architecture.survival)
        return lateral_places(self.U_exists), np.empty(0, self.layers.w.dtype)

    def lateral_weights(self) -> list[int]:
        """Surviving lateral U weights over all gates, of each network."""
        N, *each = self.drawn.features.shape
        return [int(count) for count in np.bincount(self.laterals[0] // math.prod(each), minlength=N)]

    @cached_property
    def masks(self) -> Named:
        """(N, …) by name: True where the weight exists."""
        architecture = self.architecture
        N, C, W = self.layers.b.shape
        seen = architecture.inputs + architecture.sees_own_state
        shapes = {"A": (N, C, W, seen), "b": (N, C, W), "B": (N, C, W, W), "c": (N, C, W)}
        masks = {name: np.ones(shape, dtype=np.bool_) for name, shape in shapes.items()}
        for g, gate in enumerate(CELLS[architecture.cell].gates):
            masks[f"U.{gate}"] = self.U_exists[:, g]
            if architecture.recurrent:
                masks[f"R.{gate}"] = self.R_exists[:, g]
            if architecture.switches.state_bias:
                masks[f"q.{gate}"] = np.ones((N, C), dtype=np.bool_)
        return masks


def _by_gate(architecture: Architecture, arrays: Named) -> Named:
    """U, R and q with all gates, (N, G, …), as far as they exist."""
    gates = CELLS[architecture.cell].gates
    kinds = [kind for kind in ("U", "R", "q") if f"{kind}.{gates[0]}" in arrays]
    return {kind: np.stack([arrays[f"{kind}.{gate}"] for gate in gates], axis=1) for kind in kinds}


@lru_cache(maxsize=2)
def _drawn(architecture: Architecture, seeds: tuple[int, ...], steps: int, dtype: str, task: str) -> Drawn:
    """What all levels and step sizes of the same seeds share: columns, data, unmasked weights and mask numbers."""
    data = [stream(task, seed, steps, architecture.inputs) for seed in seeds]
    x, y, counted = (np.stack([each[n] for each in data]) for n in range(3))
    w = np.stack([initial_w(seed, architecture.columns) for seed in seeds])
    gates = CELLS[architecture.cell].gates
    parts = tensors(architecture)

    def draw(*names: str) -> Array:
        """(N, …) or, of all gates, (N, G, …)."""
        bound, shape = parts[names[0]]
        out = np.zeros((len(seeds), len(names), *shape), dtype)
        if bound > 0.0:
            sfc64.fill(sfc64.keys(seeds, list(names)), bound, 2.0, out.reshape(*out.shape[:2], -1))
        return out if "." in names[0] else out[:, 0]

    A_h = draw(OWN_STATE)[:, 0, ..., 0] if OWN_STATE in parts else np.zeros((len(seeds), *parts["b"].shape), dtype)
    layers = Layers(
        draw("A"), A_h, draw("b"), draw("B"), draw("c"), w.astype(dtype), x.astype(dtype), y.astype(dtype), counted
    )
    R, R_numbers, q = None, None, None
    if architecture.recurrent:
        R = draw(*(f"R.{gate}" for gate in gates))
        R_numbers = np.empty(R.shape)
        sfc64.fill(
            sfc64.keys(seeds, [f"mask.R.{gate}" for gate in gates]), 1.0, 1.0, R_numbers.reshape(*R.shape[:2], -1)
        )
    if architecture.switches.state_bias:
        q = draw(*(f"q.{gate}" for gate in gates))
    return Drawn(layers, Features(architecture, seeds, dtype), R, R_numbers, q)
