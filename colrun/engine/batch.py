"""Batches: networks of one architecture, stacked, with the sequences they are shown.

What does not depend on the lateral level (columns, data) is kept apart from what does (U, R), and is drawn once for all
levels and step sizes of the same seeds.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from colrun.compiling import Array
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.draw import draw_numbers, draw_weights, initial_w, masks_of
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
    """All that seeds draw, before any mask: `U`, `R`, `q` hold all gates, (N, G, …); there may be no R and no q."""

    layers: Layers
    weights: Named
    numbers: Named
    """One uniform number per maskable weight."""

    @cached_property
    def few(self) -> tuple[Array, Array]:
        """Flat places and numbers of the lateral U weights that survive at any level below `FEW`."""
        numbers = self.numbers["U"]
        places = np.flatnonzero(numbers < FEW)
        _, _, to, source, _ = np.unravel_index(places, numbers.shape)
        places = places[to != source]
        return places, numbers.reshape(-1)[places]


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
        layers = _layers(architecture, theta, w, x, y, counted)
        return cls(architecture, seeds, Drawn(layers, _by_gate(architecture, theta), {}), _by_gate(architecture, masks))

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
    def exists(self) -> Named:
        """Masks of U and R by kind, (N, G, …)."""
        return masks_of(self.architecture, self.drawn.numbers) if self.given is None else self.given

    @cached_property
    def U(self) -> Array:
        """(N, G, C, C, W), zero where masked, here as in every `step`: a masked weight does not exist."""
        whole = self.given is None and self.architecture.survival >= 1.0
        return self.drawn.weights["U"] if whole else self.drawn.weights["U"] * self.exists["U"]

    @cached_property
    def R_exists(self) -> Array:
        """(N, G, C, C): nothing where the cell has no R."""
        if not self.architecture.recurrent:
            return np.zeros(self.R.shape, dtype=np.bool_)
        if self.given is not None:
            return self.given["R"]
        return masks_of(self.architecture, {"R": self.drawn.numbers["R"]})["R"]

    @cached_property
    def R(self) -> Array:
        """(N, G, C, C), zero where masked."""
        if not self.architecture.recurrent:
            return np.zeros(self.drawn.weights["U"].shape[:4], self.layers.w.dtype)
        return self.drawn.weights["R"] * self.R_exists

    @cached_property
    def q(self) -> Array:
        """(N, G, C), zero where there is none."""
        if "q" in self.drawn.weights:
            return self.drawn.weights["q"]
        return np.zeros(self.drawn.weights["U"].shape[:3], self.layers.w.dtype)

    @cached_property
    def lateral_places(self) -> Array:
        """Flat places in U of the lateral weights that exist."""
        if self.given is None and self.architecture.survival <= FEW:
            places, numbers = self.drawn.few
            kept: Array = places[numbers < self.architecture.survival]
            return kept
        exists = self.exists["U"]
        places = np.flatnonzero(exists)
        _, _, to, source, _ = np.unravel_index(places, exists.shape)
        lateral: Array = places[to != source]
        return lateral

    def lateral_weights(self) -> list[int]:
        """Surviving lateral U weights over all gates, of each network."""
        N = len(self.seeds)
        each = self.drawn.weights["U"].size // N
        return [int(count) for count in np.bincount(self.lateral_places // each, minlength=N)]

    @cached_property
    def masks(self) -> Named:
        """(N, …) by name: True where the weight exists."""
        architecture = self.architecture
        N, C, W = self.layers.b.shape
        seen = architecture.inputs + architecture.sees_own_state
        shapes = {"A": (N, C, W, seen), "b": (N, C, W), "B": (N, C, W, W), "c": (N, C, W)}
        masks = {name: np.ones(shape, dtype=np.bool_) for name, shape in shapes.items()}
        for g, gate in enumerate(CELLS[architecture.cell].gates):
            masks[f"U.{gate}"] = self.exists["U"][:, g]
            if architecture.recurrent:
                masks[f"R.{gate}"] = self.R_exists[:, g]
            if architecture.switches.state_bias:
                masks[f"q.{gate}"] = np.ones((N, C), dtype=np.bool_)
        return masks


def _layers(architecture: Architecture, theta: Named, w: Array, x: Array, y: Array, counted: Array) -> Layers:
    A, inputs = theta["A"], architecture.inputs
    A_h = A[..., inputs] if architecture.sees_own_state else np.zeros(A.shape[:-1], A.dtype)
    given = (A[..., :inputs], A_h, theta["b"], theta["B"], theta["c"], w, x, y, counted)
    return Layers(*map(np.ascontiguousarray, given))


def _by_gate(architecture: Architecture, arrays: Named) -> Named:
    """U, R and q with all gates, (N, G, …), as far as they exist."""
    gates = CELLS[architecture.cell].gates
    kinds = [kind for kind in ("U", "R", "q") if f"{kind}.{gates[0]}" in arrays]
    return {kind: np.stack([arrays[f"{kind}.{gate}"] for gate in gates], axis=1) for kind in kinds}


@lru_cache(maxsize=2)
def _drawn(architecture: Architecture, seeds: tuple[int, ...], steps: int, dtype: str, task: str) -> Drawn:
    """What all levels and step sizes of the same seeds share: columns, data, unmasked weights and mask numbers."""
    theta = _stacked([draw_weights(architecture, seed) for seed in seeds], dtype)
    numbers = _stacked([draw_numbers(architecture, seed) for seed in seeds], "float64")
    data = [stream(task, seed, steps, architecture.inputs) for seed in seeds]
    w = np.stack([initial_w(seed, architecture.columns) for seed in seeds]).astype(dtype)
    x, y = np.stack([each.x for each in data]).astype(dtype), np.stack([each.y for each in data]).astype(dtype)
    layers = _layers(architecture, theta, w, x, y, np.stack([each.counted for each in data]))
    return Drawn(layers, _by_gate(architecture, theta), _by_gate(architecture, numbers))


def _stacked(each: list[Named], dtype: str) -> Named:
    return {name: np.stack([values[name] for values in each]).astype(dtype) for name in each[0]}
