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
from colrun.networks.batch import FEW, Batch
from colrun.networks.cells import CELLS, get_cell
from colrun.networks.trajectory import Trajectory

CHUNK_NUMBERS = 131_072
"""Activations (columns x T x W) that go through the products at once: half a megabyte in float32."""


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
        a, r = self._gate_credit(credit)
        M, _, W = self.f.shape
        first, second = self.f.new_empty(M, W, self._seen().shape[-1]), self.f.new_empty(M, W, W + 1)
        for _ in self._products(a, crosses, first, second):
            pass
        return Packed(first, second, self._rest(a, r))

    def compare(self, truth: Judged, credit: Tensor, crosses: bool) -> Tensor:
        """The sums (10, N) behind metrics.compare, without keeping the gradient."""
        a, r = self._gate_credit(credit)
        C = self.batch.architecture.columns
        total = np.zeros((len(self.batch.seeds), sums.ESTIMATE))
        for begin, first, second in self._products(a, crosses):
            for kept, part in ((truth.gradient.first, first), (truth.gradient.second, second)):
                known = kept[begin : begin + len(part)].flatten(1).numpy()
                sums.of_estimate_by_network(known, part.flatten(1).numpy(), C, begin, RELEASED_THRESHOLD, total)
        for (known, starts), (values, _) in zip(truth.gradient.rest, self._rest(a, r), strict=True):
            sums.of_estimate_listed(known, values, starts, RELEASED_THRESHOLD, total)
        aligned, released, counted, error, dot, ee = torch.from_numpy(total).T
        nonzero, size, count, gg = torch.from_numpy(truth.sums).T
        return torch.stack([aligned, nonzero, released, counted, error, size, count, dot, gg, ee])

    def _gate_credit(self, credit: Tensor) -> tuple[Tensor, Tensor]:
        """Credit of a and r, (N, T, G, C), from that of states."""
        by_a, by_r, _ = self.partials
        N, T, S, _, C = by_a.shape
        states = credit.reshape(N, T, S, 1, C)
        return (states * by_a).sum(2), (states * by_r).sum(2)

    def _seen(self) -> Tensor:
        """What multiplies the first layer, (M, T, inputs [+ 1] + 1): shared memory, so filled in for each use."""
        seen, inputs = self.batch.layers.seen, self.batch.architecture.inputs
        if self.stateful:
            seen[..., inputs] = self.h_tm1.transpose(1, 2)
            return seen.flatten(0, 1)
        return seen[..., : inputs + 1].flatten(0, 1)  # the place of h_i holds a 1, which serves the bias

    def _products(
        self, a: Tensor, crosses: bool, all_first: Tensor | None = None, all_second: Tensor | None = None
    ) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Gradients of both layers by chunks of columns, into the given arrays or into memory that is used again."""
        batch = self.batch
        N, T, G, C = a.shape
        M, _, W = self.f.shape
        B, seen = batch.layers.B.view(M, W, W), self._seen()
        size = max(1, CHUNK_NUMBERS // (T * W))
        credit_second, credit_first = self.f.new_empty(min(size, M), T, W), self.f.new_empty(min(size, M), T, W)
        into_first = all_first if all_first is not None else self.f.new_empty(min(size, M), W, seen.shape[-1])
        into_second = all_second if all_second is not None else self.f.new_empty(min(size, M), W, W + 1)
        through_all = crosses and not self.sparse
        if through_all:
            features = (a.reshape(N, T, G * C) @ batch.U.reshape(N, G * C, C * W)).view(N, T, C, W)
        for begin in range(0, M, size):
            stop = min(begin + size, M)
            here, place = slice(begin, stop), slice(0, stop - begin)
            second, first = credit_second[place], credit_first[place]
            if through_all:
                layers.by_column_where_active(features.numpy(), begin, self.f[here].numpy(), second.numpy())
            else:
                split = self.laterals
                layers.credit_of_features(
                    a.numpy(), self._own_active, split.listed, split.starts, crosses, begin,
                    self.f.numpy(), second.numpy(),
                )  # fmt: skip
            torch.bmm(second, B[here], out=first)
            first.mul_(self._z_active[here])
            found_first = into_first[here if all_first is not None else place]
            found_second = into_second[here if all_second is not None else place]
            torch.bmm(first.transpose(1, 2), seen[here], out=found_first)
            torch.bmm(second.transpose(1, 2), self.z[here], out=found_second)
            yield begin, found_first, found_second

    def _rest(self, a: Tensor, r: Tensor) -> list[tuple[Array, Array]]:
        """U, R and q: the weights that exist."""
        batch = self.batch
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
