"""The fast engine: the credit form of contraction.py and the estimators, with compiled kernels and few, wide products.

The order is forward → Jacobian → credits → products → sums. Arrays are laid out by column, (N·C, T, W), so that no
product needs a copy, and columns go through the products in chunks that stay in cache until their sums are taken. Where
lateral weights are few they are kept as a list, and masked weights cost nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from colrun.kernels import Array, Listed, credits, layers, sums
from colrun.kernels import forward as forward_kernels
from colrun.kernels.cells import NUMBERS
from colrun.metrics import RELEASED_THRESHOLD
from colrun.networks.base import Gradients
from colrun.networks.batch import Batch
from colrun.networks.cells import CELLS, get_cell
from colrun.networks.lateral import FEW
from colrun.networks.trajectory import Trajectory

CHUNK_NUMBERS = 40_000
"""Activations (columns x T x W) that go through the products at once: with weights, truth and gradients of these
columns they fill a cache of two megabytes in float32."""


def has_kernels(batch: Batch) -> bool:
    """Whether the compiled path knows this cell."""
    return batch.architecture.cell in NUMBERS


class Packed(NamedTuple):
    """A gradient as the products leave it; M = N·C columns."""

    first: Tensor
    """(M, W, inputs [+ 1] + 1): A, [own state,] b"""
    second: Tensor
    """(M, W, W + 1): B, c"""
    rest: list[tuple[Array, Array]]
    """U, R and q: flat lists of the weights that exist, and where each network's begin (N, 2 or more)."""


class Signal(NamedTuple):
    """A credit on its way into the columns."""

    a: Tensor
    """(N, T, G, C): credit of U f + q"""
    r: Tensor
    """(N, T, G, C): credit of R h(t-1)"""
    crosses: bool
    features: Array | None
    """(N, T, C, W): credit of the features, where it goes through all of U"""


class Chunk(NamedTuple):
    """Some columns, counted over networks: what they multiply, and room for what they give."""

    begin: int
    columns: slice
    B: Tensor
    z: Tensor
    z_active: Tensor
    seen: Tensor
    f: Array
    credit_second: Tensor
    credit_first: Tensor
    first: Tensor
    second: Tensor


class Judged(NamedTuple):
    """A truth and its own sums."""

    gradient: Packed
    sums: Array


@dataclass(frozen=True)
class Laterals:
    """U as own weights (N, G, C, W) and a list of lateral ones, sorted by network and source column."""

    own: Tensor
    listed: Listed
    starts: Array

    @classmethod
    def of(cls, batch: Batch, sparse: bool) -> "Laterals":
        """The list is empty where U is used whole."""
        U = batch.drawn.weights["U"]
        N, _, C, _, _ = U.shape
        own = torch.diagonal(U, dim1=2, dim2=3).transpose(-1, -2).contiguous()  # never masked
        places = batch.lateral_places if sparse else np.zeros(0, dtype=np.int64)
        network, _, _, source, _ = np.unravel_index(places, U.shape)
        places = places[np.argsort(network * C + source, kind="stable")]
        network, gate, to, source, unit = np.unravel_index(places, U.shape)
        edges = np.searchsorted(network * C + source, np.arange(N * C + 1))
        starts = edges[np.arange(N)[:, None] * C + np.arange(C + 1)]
        return cls(own, (U.numpy().reshape(-1)[places], gate, to, source, unit), starts)


class Compiled:
    """One batch run forward, ready to give credits, gradients and metrics."""

    def __init__(self, batch: Batch, step_size: float | None) -> None:
        self.batch, self.step_size = batch, step_size
        self.alpha = step_size or 0.0
        self.cell = batch.architecture.cell
        self.sparse = batch.architecture.survival < FEW  # by the config, never by the mask drawn
        self.stateful = batch.architecture.sees_own_state
        self.linked = batch.architecture.recurrent
        self.laterals = Laterals.of(batch, self.sparse)
        self._run()
        self.partials = get_cell(self.cell).partials(self.a, self.r, self.s[:, :-1])
        self.J = self._jacobian() if self.linked else self.h.new_zeros(len(batch.seeds), 1, 1, 1)

    def _run(self) -> None:
        batch, shared = self.batch, self.batch.layers
        N, T, _ = shared.x.shape
        C, W = batch.architecture.columns, batch.architecture.width
        G, S = len(CELLS[self.cell].gates), CELLS[self.cell].states
        new = shared.w.new_empty
        if self.stateful:
            z, f = shared.w.new_ones(N, C, T, W + 1), new(N, C, T, W)
        else:
            z, f = shared.stateless
        a, r, s, w, delta = new(N, T, G, C), new(N, T, G, C), new(N, T + 1, S, C), new(N, T + 1, C), new(N, T)
        s[:, 0] = 0
        w[:, 0] = shared.w
        if not self.stateful and not self.sparse:
            by_step = f.transpose(1, 2).reshape(N, T, C * W)  # (N, T, C·W)
            weights = batch.U.reshape(N, G * C, C * W).transpose(1, 2)
            torch.baddbmm(batch.q.reshape(N, 1, G * C), by_step, weights, out=a.view(N, T, G * C))
        whole = new(1, 1, 1, 1, 1) if self.sparse else batch.U
        before = (shared.pre_x, shared.A_h, shared.B_t, shared.c, whole, self.laterals.own)
        after = (batch.R, batch.q, shared.y, z, f, a, r, s, w, delta)
        forward_kernels.run(
            NUMBERS[self.cell], self.stateful, self.sparse, self.alpha,
            *(tensor.numpy() for tensor in before), self.laterals.listed, self.laterals.starts,
            *(tensor.numpy() for tensor in after),
        )  # fmt: skip
        self.a, self.r, self.s, self.delta = a, r, s, delta
        self.h, self.h_tm1, self.w = s[:, 1:, 0].contiguous(), s[:, :-1, 0], w[:, :-1].contiguous()
        self.z, self.f = z.view(N * C, T, W + 1), f.view(N * C, T, W)

    def _jacobian(self) -> Tensor:
        batch, shared = self.batch, self.batch.layers
        N, T, S, G, C = self.partials.by_a.shape
        W = batch.architecture.width
        J = self.h.new_empty(N, T, S * C, S * C)
        tangent = dense = self.h.new_empty(1, 1, 1, 1)
        mode = 0
        if self.stateful:
            mode = 1 if self.sparse else 2
            first = torch.empty_like(self.f)
            layers.tangent_of_first_layer(self.z.numpy(), shared.A_h.view(N * C, W).numpy(), first.numpy())
            tangent = torch.bmm(first, shared.B_t.view(N * C, W, W))
            layers.where_active(tangent.numpy(), self.f.numpy())
            tangent = tangent.view(N, C, T, W)
        if mode == 2:
            dense = self.h.new_empty(N, C, T, G * C)
            for n in range(N):  # network by network, so that U needs no copy: (source; unit; gate and column)
                torch.bmm(tangent[n], batch.U[n].view(G * C, C, W).permute(1, 2, 0), out=dense[n])
        layers.jacobian(
            *(partial.contiguous().numpy() for partial in self.partials), batch.R.numpy(),
            mode, self.laterals.own.numpy(), self.laterals.listed, self.laterals.starts,
            tangent.numpy(), dense.numpy(), J.numpy(),
        )  # fmt: skip
        return J

    @cached_property
    def trajectory(self) -> Trajectory:
        """The same run for estimators that have no kernels."""
        N, T, C = self.h.shape
        W = self.batch.architecture.width
        z, f = self.z.view(N, C, T, W + 1)[..., :W].transpose(1, 2), self.f.view(N, C, T, W).transpose(1, 2)
        return Trajectory(self.batch, self.step_size, z, f, self.a, self.r, self.s, self.w, self.delta)

    # --- credits, (N, T, P) ---

    def adjoint(self, block: int) -> Tensor:
        """bptt, and tbptt-block where `block` is below T."""
        out = self._room()
        credits.adjoint(self.J.numpy(), self.linked, *self._course(), self.alpha, block, out.numpy())
        return out

    def lagged(self, windows: list[int]) -> list[Tensor]:
        """tbptt for every window."""
        N, T, P = self._room().shape
        increasing = sorted({min(window, T) for window in windows})
        out = self.h.new_empty(N, len(increasing), T, P)
        lengths = np.array(increasing, dtype=np.int64)
        credits.lagged(self.J.numpy(), self.linked, *self._course(), self.alpha, lengths, out.numpy())
        return [out[:, increasing.index(min(window, T))] for window in windows]

    def own(self, meta: bool) -> Tensor:
        """master-user."""
        out = self._room()
        alpha = self.alpha if meta else 0.0
        credits.own(self.J.numpy(), self.linked, *self._course(), alpha, out.numpy())
        return out

    def _room(self) -> Tensor:
        N, T, C = self.h.shape
        return self.h.new_empty(N, T, CELLS[self.cell].states * C)

    def _course(self) -> Iterator[Array]:
        return (tensor.numpy() for tensor in (self.h, self.w, self.delta))

    # --- gradients and metrics ---

    def truth(self, credit: Tensor) -> Judged:
        """The gradient of a credit that crosses columns, kept to compare with, and its sums."""
        gradient = self.gradient(credit, crosses=True)
        total = np.zeros((len(self.batch.seeds), sums.TRUTH))
        C = self.batch.architecture.columns
        for part in (gradient.first, gradient.second):
            sums.of_truth_by_network(part.flatten(1).numpy(), C, 0, total)
        for values, starts in gradient.rest:
            sums.of_truth_listed(values, starts, total)
        return Judged(gradient, total)

    def gradient(self, credit: Tensor, crosses: bool) -> Packed:
        """All of it."""
        signal = self._signal(credit, crosses)
        M, _, W = self.f.shape
        first, second = self.f.new_empty(M, W, self._seen().shape[-1]), self.f.new_empty(M, W, W + 1)
        for chunk in self._chunks:
            self._products(chunk, signal, first[chunk.columns], second[chunk.columns])
        return Packed(first, second, self._rest(signal))

    def compare(self, truth: Judged, credits: list[tuple[Tensor, bool]]) -> list[Tensor]:
        """The sums (10, N) behind metrics.compare, for each credit and whether it crosses columns.

        All estimates of a chunk of columns are compared while the chunk's weights and its truth are in cache, and no
        gradient is kept.
        """
        self._seen()  # the chunks hold views of it, and another run may have used the memory since
        signals = [self._signal(credit, crosses) for credit, crosses in credits]
        C = self.batch.architecture.columns
        totals = [np.zeros((len(self.batch.seeds), sums.ESTIMATE)) for _ in signals]
        for chunk in self._chunks:
            known = [part[chunk.columns].flatten(1).numpy() for part in (truth.gradient.first, truth.gradient.second)]
            found = [part.flatten(1).numpy() for part in (chunk.first, chunk.second)]
            for signal, total in zip(signals, totals, strict=True):
                self._products(chunk, signal, chunk.first, chunk.second)
                sums.of_estimates(*known, *found, C, chunk.begin, RELEASED_THRESHOLD, total)
        nonzero, size, count, gg = torch.from_numpy(truth.sums).T
        every = []
        for signal, total in zip(signals, totals, strict=True):
            for (known_rest, starts), (values, _) in zip(truth.gradient.rest, self._rest(signal), strict=True):
                sums.of_estimate_listed(known_rest, values, starts, RELEASED_THRESHOLD, total)
            aligned, released, counted, error, dot, ee = torch.from_numpy(total).T
            every.append(torch.stack([aligned, nonzero, released, counted, error, size, count, dot, gg, ee]))
        return every

    def _signal(self, credit: Tensor, crosses: bool) -> "Signal":
        """Credit of gates from that of states and, where it goes through all of U, of features."""
        by_a, by_r, _ = self.partials
        N, T, S, G, C = by_a.shape
        states = credit.reshape(N, T, S, 1, C)
        a, r = (states * by_a).sum(2), (states * by_r).sum(2)
        if not crosses or self.sparse:
            return Signal(a, r, crosses, None)
        W = self.batch.architecture.width
        features = a.reshape(N, T, G * C) @ self.batch.U.reshape(N, G * C, C * W)
        return Signal(a, r, crosses, features.view(N, T, C, W).numpy())

    @cached_property
    def _chunks(self) -> "list[Chunk]":
        M, T, W = self.f.shape
        size = min(M, max(1, CHUNK_NUMBERS // (T * W)))
        B, seen = self.batch.layers.B.view(M, W, W), self._seen()
        room = self.f.new_empty(2, size, T, W)
        first, second = self.f.new_empty(size, W, seen.shape[-1]), self.f.new_empty(size, W, W + 1)
        found = []
        for begin in range(0, M, size):
            here, number = slice(begin, min(begin + size, M)), min(size, M - begin)
            found.append(
                Chunk(begin, here, B[here], self.z[here], self._z_active[here], seen[here], self.f[here].numpy(),
                      room[0, :number], room[1, :number], first[:number], second[:number])
            )  # fmt: skip
        return found

    def _products(self, chunk: "Chunk", signal: "Signal", first: Tensor, second: Tensor) -> None:
        """Gradients of both layers of a chunk of columns, into `first` and `second`."""
        if signal.features is not None:
            layers.by_column_where_active(signal.features, chunk.begin, chunk.f, chunk.credit_second.numpy())
        else:
            split = self.laterals
            layers.credit_of_features(
                signal.a.numpy(), self._own_active, split.listed, split.starts, signal.crosses, chunk.begin,
                self.f.numpy(), chunk.credit_second.numpy(),
            )  # fmt: skip
        torch.bmm(chunk.credit_second, chunk.B, out=chunk.credit_first)
        chunk.credit_first.mul_(chunk.z_active)
        torch.bmm(chunk.credit_first.transpose(1, 2), chunk.seen, out=first)
        torch.bmm(chunk.credit_second.transpose(1, 2), chunk.z, out=second)

    def _seen(self) -> Tensor:
        """What multiplies the first layer, (M, T, inputs [+ 1] + 1): shared memory, filled in by its last user."""
        shared, inputs = self.batch.layers, self.batch.architecture.inputs
        seen = shared.seen
        if self.stateful:
            if not shared.filled_by or shared.filled_by[0] is not self.h_tm1:
                seen[..., inputs] = self.h_tm1.transpose(1, 2)
                shared.filled_by[:] = [self.h_tm1]
            return seen.flatten(0, 1)
        return seen[..., : inputs + 1].flatten(0, 1)  # the place of h_i holds a 1, which serves the bias

    def _rest(self, signal: "Signal") -> list[tuple[Array, Array]]:
        """U, R and q: the weights that exist."""
        batch, a, r = self.batch, signal.a, signal.r
        N, T, G, C = a.shape
        W = batch.architecture.width
        f = self.f.view(N, C, T, W)
        by_time = a.reshape(N, T, G * C).transpose(1, 2)
        found = []
        if self.sparse:
            own = self.f.new_empty(N, G, C, W)
            lateral = np.empty_like(self.laterals.listed[0])
            layers.gradient_of_own(a.numpy(), f.numpy(), own.numpy())
            layers.gradient_of_listed(a.numpy(), f.numpy(), self.laterals.listed, self.laterals.starts, lateral)
            found += [(own.numpy().reshape(-1), _even(N, own.numel())), (lateral, self.laterals.starts)]
        else:
            U = torch.bmm(by_time, self._f_by_step)
            found.append((_pick(U, self._U_places[0]), self._U_places[1]))
        if self.linked:
            R = r.reshape(N, T, G * C).transpose(1, 2) @ self.h_tm1
            found.append((_pick(R, self._R_places[0]), self._R_places[1]))
        if batch.architecture.switches.state_bias:
            q = by_time.sum(-1)
            found.append((q.numpy().reshape(-1), _even(N, q.numel())))
        return found

    @cached_property
    def _U_places(self) -> tuple[Array | None, Array]:
        if self.batch.architecture.survival >= 1.0:  # every weight exists: no need to look
            N, each = len(self.batch.seeds), self.batch.U[0].numel()
            return None, _even(N, N * each)
        return _places(self.batch.exists["U"])

    @cached_property
    def _own_active(self) -> Array:
        """Own weights where their unit is active, (G, M, T, W)."""
        out = self.f.new_empty(self.laterals.own.shape[1], *self.f.shape)
        layers.own_where_active(self.laterals.own.numpy(), self.f.numpy(), out.numpy())
        found: Array = out.numpy()
        return found

    @cached_property
    def _z_active(self) -> Tensor:
        """1 where a unit of the first layer is active, else 0, (M, T, W)."""
        return (self.z[..., :-1] > 0).to(self.z.dtype)

    @cached_property
    def _f_by_step(self) -> Tensor:
        """(N, T, C·W)."""
        N, T, C = self.h.shape
        return self.f.view(N, C, T, -1).transpose(1, 2).reshape(N, T, -1)

    @cached_property
    def _R_places(self) -> tuple[Array, Array]:
        return _places(self.batch.R_exists)

    def unpack(self, packed: Packed) -> Gradients:
        """By name, (N, …), zero where masked."""
        batch = self.batch
        N, G, C, _, W = batch.drawn.weights["U"].shape
        inputs = batch.architecture.inputs
        first, second = packed.first.view(N, C, W, -1), packed.second.view(N, C, W, -1)
        found = {
            "A": first[..., : inputs + self.stateful],
            "b": first[..., -1],
            "B": second[..., :W],
            "c": second[..., W],
        }
        rest = iter(packed.rest)
        U = torch.zeros_like(batch.drawn.weights["U"])
        if self.sparse:
            U[:, :, torch.arange(C), torch.arange(C)] = torch.from_numpy(next(rest)[0]).view(N, G, C, W)
            network = np.repeat(np.arange(N), self.laterals.starts[:, -1] - self.laterals.starts[:, 0])
            _, gate, to, source, unit = self.laterals.listed
            U[network, gate, to, source, unit] = torch.from_numpy(next(rest)[0])
        else:
            values = torch.from_numpy(next(rest)[0])
            places = self._U_places[0]
            U.view(-1)[slice(None) if places is None else places] = values
        R = torch.zeros_like(batch.R)
        if self.linked:
            R.view(-1)[self._R_places[0]] = torch.from_numpy(next(rest)[0])
        q = torch.zeros_like(batch.q)
        if batch.architecture.switches.state_bias:
            q = torch.from_numpy(next(rest)[0]).view(N, G, C)
        for g, gate_name in enumerate(CELLS[self.cell].gates):
            found |= {f"U.{gate_name}": U[:, g], f"R.{gate_name}": R[:, g], f"q.{gate_name}": q[:, g]}
        return {name: found[name].clone() for name in batch.masks}


def _places(exists: Tensor) -> tuple[Array, Array]:
    """Flat places of the weights that exist, and where each network's begin."""
    N = exists.shape[0]
    places = np.flatnonzero(exists.numpy())
    edges = np.searchsorted(places, np.arange(N + 1) * (exists.numel() // N))
    return places, np.stack([edges[:-1], edges[1:]], axis=1)


def _even(N: int, total: int) -> Array:
    edges = np.arange(N + 1) * (total // N)
    return np.stack([edges[:-1], edges[1:]], axis=1)


def _pick(values: Tensor, places: Array | None) -> Array:
    """Those at `places`; all if None."""
    flat = values.reshape(-1).numpy()
    if places is None:
        return flat
    out = np.empty(places.size, dtype=flat.dtype)
    sums.gather(flat, places, out)
    return out
