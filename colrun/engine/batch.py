"""Batches: networks of one architecture, stacked, with the sequences they are shown.

What does not depend on the lateral level (columns, data) is kept apart from what does (U, R), and is drawn once for all
levels and step sizes of the same seeds.
"""

from collections.abc import Sequence as Several
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.draw import draw_numbers, draw_weights, initial_w, masks_of
from colrun.networks.lateral import FEW
from colrun.testbed import Sequence, sequence

Array = NDArray[Any]


@dataclass(frozen=True)
class Layers:
    """Columns and data of N networks."""

    A_x: Tensor
    """(N, C, W, inputs)"""
    A_h: Tensor
    """(N, C, W): the last column of A; zero where columns do not see their state."""
    b: Tensor
    B: Tensor
    c: Tensor
    w: Tensor
    """(N, C): w(0)"""
    x: Tensor
    """(N, T, inputs)"""
    y: Tensor
    """(N, T)"""

    @cached_property
    def B_t(self) -> Tensor:
        """B transposed, in memory."""
        return self.B.transpose(-1, -2).contiguous()

    @cached_property
    def pre_x(self) -> Tensor:
        """(N, C, T, W): A x + b without the own state."""
        return self.x.unsqueeze(1) @ self.A_x.transpose(-1, -2) + self.b.unsqueeze(2)

    @cached_property
    def stateless(self) -> tuple[Tensor, Tensor]:
        """z, with a 1 at the end for the bias of the next layer, and f, where columns do not see their state."""
        z = torch.relu(self.pre_x)
        f = torch.relu(z @ self.B_t + self.c.unsqueeze(2))
        return torch.cat([z, z.new_ones(*z.shape[:-1], 1)], dim=-1), f


@dataclass(frozen=True)
class Drawn:
    """All that seeds draw, before any mask: `U`, `R`, `q` hold all gates, (N, G, …); there may be no R and no q."""

    layers: Layers
    weights: dict[str, Tensor]
    numbers: dict[str, Tensor]
    """One uniform number per maskable weight."""

    @cached_property
    def few(self) -> tuple[Array, Array]:
        """Flat places and numbers of the lateral U weights that survive at any level below `FEW`."""
        numbers = self.numbers["U"].numpy()
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
    given: dict[str, Tensor] | None = None
    """Masks by kind, where they do not come from numbers."""

    @classmethod
    def stack(cls, networks: Several[ColumnarNetwork], sequences: Several[Sequence]) -> "Batch":
        """Networks as they are, with their sequences."""
        first = networks[0]
        theta = {name: torch.stack([network.theta[name] for network in networks]) for name in first.theta}
        masks = {name: torch.stack([network.masks[name] for network in networks]) for name in first.masks}
        w = torch.stack([network.w for network in networks])
        x = torch.stack([sequence.x for sequence in sequences])
        y = torch.stack([sequence.y for sequence in sequences])
        drawn = Drawn(_layers(first.architecture, theta, w, x, y), _by_gate(first.architecture, theta), {})
        seeds = tuple(network.seed for network in networks)
        return cls(first.architecture, seeds, drawn, _by_gate(first.architecture, masks))

    @classmethod
    def draw(cls, architecture: Architecture, seeds: tuple[int, ...], steps: int, dtype: torch.dtype) -> "Batch":
        """The test-bed's networks of these seeds: the same numbers as `build` and `sequence` give one by one."""
        return cls(architecture, seeds, _drawn(replace(architecture, lateral=0.0), seeds, steps, dtype))

    @property
    def layers(self) -> Layers:
        """Columns and data."""
        return self.drawn.layers

    @cached_property
    def exists(self) -> dict[str, Tensor]:
        """Masks of U and R by kind, (N, G, …)."""
        return _masks(self.architecture, self.drawn.numbers) if self.given is None else self.given

    @cached_property
    def U(self) -> Tensor:
        """(N, G, C, C, W), zero where masked, here as in every `step`: a masked weight does not exist."""
        whole = self.given is None and self.architecture.survival >= 1.0
        return self.drawn.weights["U"] if whole else self.drawn.weights["U"] * self.exists["U"]

    @cached_property
    def R_exists(self) -> Tensor:
        """(N, G, C, C): nothing where the cell has no R."""
        if not self.architecture.recurrent:
            return torch.zeros(self.R.shape, dtype=torch.bool)
        if self.given is not None:
            return self.given["R"]
        return _masks(self.architecture, {"R": self.drawn.numbers["R"]})["R"]

    @cached_property
    def R(self) -> Tensor:
        """(N, G, C, C), zero where masked."""
        if not self.architecture.recurrent:
            N, G, C, _, _ = self.drawn.weights["U"].shape
            return self.layers.w.new_zeros(N, G, C, C)
        return self.drawn.weights["R"] * self.R_exists

    @cached_property
    def q(self) -> Tensor:
        """(N, G, C), zero where there is none."""
        N, G, C, _, _ = self.drawn.weights["U"].shape
        return self.drawn.weights.get("q", self.layers.w.new_zeros(N, G, C))

    @cached_property
    def lateral_places(self) -> Array:
        """Flat places in U of the lateral weights that exist."""
        if self.given is None and self.architecture.survival <= FEW:
            places, numbers = self.drawn.few
            kept: Array = places[numbers < self.architecture.survival]
            return kept
        exists = self.exists["U"].numpy()
        places = np.flatnonzero(exists)
        _, _, to, source, _ = np.unravel_index(places, exists.shape)
        lateral: Array = places[to != source]
        return lateral

    def lateral_weights(self) -> list[int]:
        """Surviving lateral U weights over all gates, of each network."""
        N = len(self.seeds)
        each = self.drawn.weights["U"].numel() // N
        return [int(count) for count in np.bincount(self.lateral_places // each, minlength=N)]

    @cached_property
    def masks(self) -> dict[str, Tensor]:
        """(N, …) by name: True where the weight exists."""
        layers, architecture = self.layers, self.architecture
        N, C, W = layers.b.shape
        seen = architecture.inputs + architecture.sees_own_state
        shapes = {"A": (N, C, W, seen), "b": (N, C, W), "B": (N, C, W, W), "c": (N, C, W)}
        masks = {name: torch.ones(shape, dtype=torch.bool) for name, shape in shapes.items()}
        for g, gate in enumerate(CELLS[architecture.cell].gates):
            masks[f"U.{gate}"] = self.exists["U"][:, g]
            if architecture.recurrent:
                masks[f"R.{gate}"] = self.R_exists[:, g]
            if architecture.switches.state_bias:
                masks[f"q.{gate}"] = torch.ones(N, C, dtype=torch.bool)
        return masks

    def network(self, n: int) -> ColumnarNetwork:
        """One of them."""
        layers = self.layers
        A = layers.A_x[n]
        if self.architecture.sees_own_state:
            A = torch.cat([A, layers.A_h[n].unsqueeze(-1)], dim=-1)
        theta = {"A": A, "b": layers.b[n], "B": layers.B[n], "c": layers.c[n]}
        for g, gate in enumerate(CELLS[self.architecture.cell].gates):
            theta |= {f"U.{gate}": self.U[n, g], f"R.{gate}": self.R[n, g], f"q.{gate}": self.q[n, g]}
        masks = {name: mask[n] for name, mask in self.masks.items()}
        theta = {name: theta[name] for name in masks}
        return ColumnarNetwork(self.architecture, self.seeds[n], theta, masks, layers.w[n])


def _layers(architecture: Architecture, theta: dict[str, Tensor], w: Tensor, x: Tensor, y: Tensor) -> Layers:
    A, inputs = theta["A"], architecture.inputs
    A_h = A[..., inputs].contiguous() if architecture.sees_own_state else torch.zeros_like(A[..., 0])
    return Layers(A[..., :inputs].contiguous(), A_h, theta["b"], theta["B"], theta["c"], w, x, y)


def _by_gate(architecture: Architecture, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """U, R and q with all gates, (N, G, …), as far as they exist."""
    gates = CELLS[architecture.cell].gates
    kinds = [kind for kind in ("U", "R", "q") if f"{kind}.{gates[0]}" in tensors]
    return {kind: torch.stack([tensors[f"{kind}.{gate}"] for gate in gates], dim=1) for kind in kinds}


@lru_cache(maxsize=2)
def _drawn(architecture: Architecture, seeds: tuple[int, ...], steps: int, dtype: torch.dtype) -> Drawn:
    """What all levels and step sizes of the same seeds share: columns, data, unmasked weights and mask numbers."""
    theta = _stacked([draw_weights(architecture, seed) for seed in seeds], dtype)
    numbers = _stacked([draw_numbers(architecture, seed) for seed in seeds], torch.float64)
    data = [sequence(seed, steps, architecture.inputs, dtype) for seed in seeds]
    w = torch.from_numpy(np.stack([initial_w(seed, architecture.columns) for seed in seeds])).to(dtype)
    x, y = torch.stack([each.x for each in data]), torch.stack([each.y for each in data])
    layers = _layers(architecture, theta, w, x, y)
    return Drawn(layers, _by_gate(architecture, theta), _by_gate(architecture, numbers))


def _stacked(each: Several[dict[str, Array]], dtype: torch.dtype) -> dict[str, Tensor]:
    return {name: torch.from_numpy(np.stack([values[name] for values in each])).to(dtype) for name in each[0]}


def _masks(architecture: Architecture, numbers: dict[str, Tensor]) -> dict[str, Tensor]:
    arrays = {name: value.numpy() for name, value in numbers.items()}
    return {name: torch.from_numpy(mask) for name, mask in masks_of(architecture, arrays).items()}
