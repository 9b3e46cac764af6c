"""The online form of SnAp: see snap.py. Only what is tracked of the influence matrix is kept.

The weights that enter a column's gates, and those of its first layer, are one group each; rows of second layers, of all
columns, are taken together where they track equally many states.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from colrun.estimators.on_lists import ListsMemory, OnLists
from colrun.estimators.online import Step
from colrun.estimators.reach import FIRST, ROWS, U, tracked
from colrun.networks.base import Gradients, Theta
from colrun.networks.cells.base import Partials
from colrun.networks.columnar import Layered
from colrun.networks.links import Links, Numbers
from colrun.networks.listed import ListedNetwork
from colrun.readout import Readout, error_tangent, w_tangent

SECOND = ("B", "c")


class Group:
    """One group of one column: which states it tracks. Its weights are one row of numbers."""

    def __init__(self, reached: Tensor, reached_w: Tensor, numbers: Numbers, spans: dict[str, slice]) -> None:
        self.spans = spans
        self.sizes = [span.stop - span.start for span in spans.values()]
        self.reached = reached
        """The states that it tracks."""
        self.within = numbers.of(reached.unsqueeze(1), reached)
        self.reached_w = reached_w
        self.place_in_w = torch.searchsorted(reached_w, reached)

    def zeros(self, S: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """M and Mw before the first step."""
        m = sum(self.sizes)
        return like.new_zeros(len(self.reached), S, m), like.new_zeros(len(self.reached_w), m)

    def advance(self, M: Tensor, by_states: Tensor, local: Tensor, states: Tensor) -> Tensor:
        """M forward one step; `local` (states, S, m) is ∂s(t)/∂θ for the places of `states` among those reached."""
        n, S, m = M.shape
        J = by_states[self.within].transpose(1, 2).reshape(n * S, n * S)
        found = (J @ M.reshape(n * S, m)).reshape(n, S, m)
        found[states] += local
        return found

    def error_tangent(self, by_state: Tensor, M: Tensor, seen: Tensor, Mw: Tensor | None) -> Tensor:
        return error_tangent(by_state[self.reached], M[:, 0], seen[self.reached_w], Mw)

    def w_tangent(self, alpha: float, Mw: Tensor, seen: Tensor, d_delta: Tensor, delta: Tensor, M: Tensor) -> Tensor:
        return w_tangent(alpha, Mw, seen[self.reached_w], d_delta, delta, M[:, 0], self.place_in_w)

    def put(self, found: Tensor, gradient: Gradients) -> None:
        """Where its weights are."""
        for (name, span), part in zip(self.spans.items(), torch.split(found, self.sizes), strict=True):
            gradient[name].view(-1)[span] = part


class Rows:
    """Rows B_i[r], c_i[r], R of them, that track n states each."""

    def __init__(self, column: Tensor, unit: Tensor, reached: Tensor, every: Tensor | None, numbers: Numbers) -> None:
        self.column, self.unit, self.reached, self.numbers = column, unit, reached, numbers
        self.every = every
        """Of w, where it is not those of the states."""

    @property
    def reached_w(self) -> Tensor:
        return self.reached if self.every is None else self.every.expand(len(self.reached), -1)

    def zeros(self, S: int, like: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """M and Mw before the first step."""
        R, n = self.reached.shape
        return like.new_zeros(R, n, S, width + 1), like.new_zeros(R, self.reached_w.shape[1], width + 1)

    def advance(self, M: Tensor, by_states: Tensor, by_features: Tensor, at: Layered) -> Tensor:
        """M (R, n, S, W+1) forward one step; by_features (links of features + 1, S, W) ends with zeros."""
        R, n, S, m = M.shape
        # Links are looked up anew at every step: kept, they would be larger than M.
        number, to = self.numbers.of, self.reached
        J = by_states[number(to.unsqueeze(2), to.unsqueeze(1))].transpose(2, 3)
        entered = number(to, self.column.unsqueeze(1)).clamp(max=len(by_features) - 1)
        awake = at.f[self.column, self.unit] > 0
        entering = by_features[entered, :, self.unit.unsqueeze(1)] * awake.reshape(-1, 1, 1)
        seen = torch.cat([at.z, at.z.new_ones(len(at.z), 1)], dim=1)[self.column]
        local = entering.unsqueeze(-1) * seen.reshape(R, 1, 1, m)
        return local + torch.bmm(J.reshape(R, n * S, n * S), M.reshape(R, n * S, m)).reshape(M.shape)

    def error_tangent(self, by_state: Tensor, M: Tensor, seen: Tensor, Mw: Tensor | None) -> Tensor:
        if Mw is None:
            return torch.vmap(error_tangent)(by_state[self.reached], M[:, :, 0])
        return torch.vmap(error_tangent)(by_state[self.reached], M[:, :, 0], seen[self.reached_w], Mw)

    def w_tangent(self, alpha: float, Mw: Tensor, seen: Tensor, d_delta: Tensor, delta: Tensor, M: Tensor) -> Tensor:
        place = None if self.every is None else self.reached
        each = torch.vmap(partial(w_tangent, alpha), in_dims=(0, 0, 0, None, 0, None if place is None else 0))
        return each(Mw, seen[self.reached_w], d_delta, delta, M[:, :, 0], place)

    def put(self, found: Tensor, gradient: Gradients) -> None:
        """Where its weights are."""
        gradient["B"][self.column, self.unit] = found[:, :-1]
        gradient["c"][self.column, self.unit] = found[:, -1]


class Pattern:
    """What is tracked of a network: its groups, and how local gradients enter them."""

    def __init__(self, listed: ListedNetwork, order: int, readout_weights: int) -> None:
        whole = listed.whole
        self.links = Links(listed)
        numbers = self.links.numbers()
        masks = {name: mask.numpy() for name, mask in whole.masks.items()}
        (sets,) = map(torch.from_numpy, tracked(whole.architecture, masks, [order]))
        spans = column_spans(listed)
        columns = range(listed.columns)
        every = None if order == 1 else torch.arange(readout_weights)
        by_group: dict[int, list[Group]] = {U: [], FIRST: []}
        for group, found in by_group.items():
            names = [name for name in spans if name not in SECOND and (name in ("A", "b")) == (group == FIRST)]
            for i in columns:
                reached = sets[group, i].nonzero().squeeze(1)
                of_column = {name: spans[name][i] for name in names}
                found.append(Group(reached, reached if every is None else every, numbers, of_column))
        self.of_gates, self.of_first = by_group[U], by_group[FIRST]
        self.rows = rows_by_size(sets[ROWS:], every, numbers)
        source, to = self.links.source[: self.links.of_features], self.links.to[: self.links.of_features]
        self.entering = [(source == i).nonzero().squeeze(1) for i in columns]
        """The links by which features of a column enter states, and the places of those among the states reached."""
        self.entered = [
            torch.searchsorted(group.reached, to[here])
            for group, here in zip(self.of_first, self.entering, strict=True)
        ]
        self.own = [torch.searchsorted(self.of_gates[i].reached, torch.tensor([i])) for i in columns]

    @property
    def groups(self) -> list[Group | Rows]:
        return [*self.of_gates, *self.of_first, *self.rows]


def rows_by_size(sets: Tensor, every: Tensor | None, numbers: Numbers) -> list[Rows]:
    """From the sets (W, C, C) of all rows; a row always tracks its own column's state."""
    sizes = sets.sum(-1)
    found = []
    for size in np.unique(sizes.numpy()):
        unit, column = (sizes == int(size)).nonzero().unbind(1)
        reached = sets[unit, column].nonzero()[:, 1].clone().reshape(len(unit), int(size))
        found.append(Rows(column, unit, reached, every, numbers))
    return found


@dataclass(frozen=True)
class InfluenceMemory(ListsMemory):
    """M of every group and, where gradients go through LMS, Mw."""

    pattern: Pattern
    M: list[Tensor]
    Mw: list[Tensor]


class OnlineSnAp(OnLists[InfluenceMemory]):
    """Local gradients in closed form: column i's features are followed back once for each state that they enter."""

    def start(self, readout: Readout) -> InfluenceMemory:
        memory = self.begin(readout)
        pattern = Pattern(memory.listed, self.window, len(memory.w))
        S, W = len(memory.s), memory.listed.architecture.width
        zeros = [
            group.zeros(S, memory.s, W) if isinstance(group, Rows) else group.zeros(S, memory.s)
            for group in pattern.groups
        ]
        Mw = [Mw for _, Mw in zeros] if readout.meta else []
        return InfluenceMemory(**vars(memory), pattern=pattern, M=[M for M, _ in zeros], Mw=Mw)

    def step(
        self, memory: InfluenceMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[InfluenceMemory, Step]:
        """M forward, then the gradient of L(t), then Mw; group after group."""
        memory, theta = memory.at(theta)
        readout, pattern, s_tm1 = memory.readout, memory.pattern, memory.s
        at = memory.listed.layers(theta, x_t, s_tm1)
        predicted = readout.predict(theta, at.s, memory.w, y_t, counted)
        memory = replace(memory, s=at.s, M=self._advanced(memory, theta, at, s_tm1))
        if not counted:
            return memory, Step.of({}, predicted, at.s)
        by_state, seen, delta = readout.slope(theta, at.s, memory.w).by_state, readout.seen(at.s), predicted.delta
        gradient = {name: torch.empty_like(value) for name, value in theta.items()}
        Mw_tp1 = []
        for n, (group, M) in enumerate(zip(pattern.groups, memory.M, strict=True)):
            Mw = memory.Mw[n] if readout.meta else None
            d_delta = group.error_tangent(by_state, M, seen, Mw)
            group.put(delta * d_delta, gradient)
            if Mw is not None:
                assert readout.step_size is not None
                Mw_tp1.append(group.w_tangent(readout.step_size, Mw, seen, d_delta, delta, M))
        memory = replace(memory, w=predicted.w_tp1, Mw=Mw_tp1)
        return memory, Step.of(memory.as_given(gradient), predicted, at.s)

    def _advanced(self, memory: InfluenceMemory, theta: Theta, at: Layered, s_tm1: Tensor) -> list[Tensor]:
        """M of every group, one step on."""
        pattern, M = memory.pattern, iter(memory.M)
        partials = pattern.links.partials(at, s_tm1)
        by_states = pattern.links.by_states(theta, at, partials)
        by_features = pattern.links.by_features(theta, at, partials)
        of_gates = local_of_gates(memory.listed, at, partials, s_tm1[0])
        found = []
        for gates, own in zip(pattern.of_gates, pattern.own, strict=True):
            local = torch.cat([of_gates[name][:, span] for name, span in gates.spans.items()], dim=1)
            found.append(gates.advance(next(M), by_states, local, own))
        for i, first in enumerate(pattern.of_first):
            local = local_of_first(theta, at, i, by_features[pattern.entering[i]])
            found.append(first.advance(next(M), by_states, local, pattern.entered[i]))
        with_none = torch.cat([by_features, torch.zeros_like(by_features[:1])])
        return found + [rows.advance(next(M), by_states, with_none, at) for rows in pattern.rows]


def local_of_gates(network: ListedNetwork, at: Layered, partials: Partials, h_tm1: Tensor) -> Gradients:
    """∂s_i/∂u_i by name, (S, weights)."""
    found = {}
    for g, gate in enumerate(network.gates):
        by_a, by_r = partials.by_a[:, g], partials.by_r[:, g]
        found[f"U.{gate}"] = (by_a.unsqueeze(-1) * at.f).flatten(1)
        to, source, _ = network.places[f"U.{gate}.lateral"]
        found[f"U.{gate}.lateral"] = by_a[:, to] * at.f.flatten()[source]
        if network.recurrent:
            to, source, _ = network.places[f"R.{gate}"]
            found[f"R.{gate}"] = by_r[:, to] * h_tm1[source]
        found[f"q.{gate}"] = by_a
    return found


def local_of_first(theta: Theta, at: Layered, i: int, by_features: Tensor) -> Tensor:
    """∂s/∂(A_i, b_i) for the states that features of i enter, (states, S, m)."""
    first = ((by_features * (at.f[i] > 0)) @ theta["B"][i]) * (at.z[i] > 0)
    A = first.unsqueeze(-1) * at.seen[i]
    return torch.cat([A.flatten(2), first], dim=-1)


def column_spans(network: ListedNetwork) -> dict[str, list[slice]]:
    """By name and column, where its weights are: they are neighbours, in lists as well."""
    found = {}
    for name, owner in network.owner.items():
        each = network.theta[name].numel() // max(1, owner.numel())
        ends = torch.searchsorted(owner.flatten(), torch.arange(network.columns + 1)) * each
        found[name] = [slice(begin, end) for begin, end in pairwise(ends.tolist())]
    return found
