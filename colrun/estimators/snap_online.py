"""The online form of SnAp: see snap.py. Only what is tracked of the influence matrix is kept, column by column."""

from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from colrun.estimators.on_lists import ListsMemory, OnLists
from colrun.estimators.online import Step
from colrun.estimators.reach import tracked
from colrun.networks.base import Gradients, Theta
from colrun.networks.cells.base import Partials
from colrun.networks.columnar import Layered
from colrun.networks.links import Links
from colrun.networks.listed import ListedNetwork
from colrun.readout import Readout, error_tangent, w_tangent

LAYERS = ("A", "b", "B", "c")  # φ; the rest is u


class Group:
    """One group of one column: which states it tracks. Its weights are one row of numbers."""

    def __init__(self, reached: Tensor, reached_w: Tensor, place: Tensor, spans: dict[str, slice]) -> None:
        self.spans = spans
        self.sizes = [span.stop - span.start for span in spans.values()]
        self.reached = reached
        """The states that it tracks."""
        self.within = place[reached][:, reached]
        self.reached_w = reached_w
        self.place_in_w = torch.searchsorted(reached_w, reached)

    def advance(self, M: Tensor, by_states: Tensor, local: Tensor, states: Tensor) -> Tensor:
        """M forward one step; `local` (states, S, m) is ∂s(t)/∂θ for the places of `states` among those reached."""
        n, S, m = M.shape
        J = by_states[self.within].transpose(1, 2).reshape(n * S, n * S)
        found = (J @ M.reshape(n * S, m)).reshape(n, S, m)
        found[states] += local
        return found


class Pattern:
    """What is tracked of a network: its groups, and how local gradients enter them."""

    def __init__(self, listed: ListedNetwork, order: int, readout_weights: int) -> None:
        whole = listed.whole
        self.links = Links(listed)
        place = self.links.place()
        masks = {name: mask.numpy() for name, mask in whole.masks.items()}
        (sets,) = map(torch.from_numpy, tracked(whole.architecture, masks, [order]))
        spans = column_spans(listed)
        columns = range(listed.columns)
        every = torch.arange(readout_weights)
        self.of_gates: list[Group] = []
        self.of_layers: list[Group] = []
        for group, found in enumerate((self.of_gates, self.of_layers)):
            names = [name for name in spans if (name in LAYERS) == bool(group)]
            for i in columns:
                reached = sets[group, i].nonzero().squeeze(1)
                of_column = {name: spans[name][i] for name in names}
                found.append(Group(reached, reached if order == 1 else every, place, of_column))
        source, to = self.links.source[: self.links.of_features], self.links.to[: self.links.of_features]
        self.entering = [(source == i).nonzero().squeeze(1) for i in columns]
        """The links by which features of a column enter states, and the places of those among the states reached."""
        self.entered = [
            torch.searchsorted(group.reached, to[here])
            for group, here in zip(self.of_layers, self.entering, strict=True)
        ]
        self.own = [torch.searchsorted(self.of_gates[i].reached, torch.tensor([i])) for i in columns]

    @property
    def groups(self) -> list[Group]:
        """Of every column that of its gates, then that of its layers."""
        return [group for both in zip(self.of_gates, self.of_layers, strict=True) for group in both]


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
        S, new = len(memory.s), memory.s.new_zeros
        M = [new(len(group.reached), S, sum(group.sizes)) for group in pattern.groups]
        Mw = [new(len(group.reached_w), sum(group.sizes)) for group in pattern.groups] if readout.meta else []
        return InfluenceMemory(**vars(memory), pattern=pattern, M=M, Mw=Mw)

    def step(
        self, memory: InfluenceMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[InfluenceMemory, Step]:
        """M forward, then the gradient of L(t), then Mw; column after column."""
        memory, theta = memory.at(theta)
        readout, pattern, s_tm1 = memory.readout, memory.pattern, memory.s
        at = memory.listed.layers(theta, x_t, s_tm1)
        predicted = readout.predict(theta, at.s, memory.w, y_t, counted)
        memory = replace(memory, s=at.s, M=self._advanced(memory, theta, at, s_tm1))
        if not counted:
            return memory, Step.of({}, predicted, at.s)
        by_state, seen = readout.slope(theta, at.s, memory.w).by_state, readout.seen(at.s)
        gradient = {name: torch.empty_like(value) for name, value in theta.items()}
        Mw_tp1 = []
        for n, (group, M) in enumerate(zip(pattern.groups, memory.M, strict=True)):
            M_h = M[:, 0]
            Mw = memory.Mw[n] if readout.meta else None
            d_delta = error_tangent(by_state[group.reached], M_h, seen[group.reached_w], Mw)
            parts = torch.split(predicted.delta * d_delta, group.sizes)
            for (name, span), part in zip(group.spans.items(), parts, strict=True):
                gradient[name].view(-1)[span] = part
            if Mw is not None:
                assert readout.step_size is not None
                Mw_tp1.append(
                    w_tangent(
                        readout.step_size, Mw, seen[group.reached_w], d_delta, predicted.delta, M_h, group.place_in_w
                    )
                )
        memory = replace(memory, w=predicted.w_tp1, Mw=Mw_tp1)
        return memory, Step.of(memory.as_given(gradient), predicted, at.s)

    def _advanced(self, memory: InfluenceMemory, theta: Theta, at: Layered, s_tm1: Tensor) -> list[Tensor]:
        """M of every group, one step on."""
        pattern = memory.pattern
        partials = pattern.links.partials(at, s_tm1)
        by_states = pattern.links.by_states(theta, at, partials)
        by_features = pattern.links.by_features(theta, at, partials)
        of_gates = local_of_gates(memory.listed, at, partials, s_tm1[0])
        found = []
        for i, (gates, layers) in enumerate(zip(pattern.of_gates, pattern.of_layers, strict=True)):
            local = torch.cat([of_gates[name][:, span] for name, span in gates.spans.items()], dim=1)
            found.append(gates.advance(memory.M[2 * i], by_states, local, pattern.own[i]))
            local = local_of_layers(theta, at, i, by_features[pattern.entering[i]])
            found.append(layers.advance(memory.M[2 * i + 1], by_states, local, pattern.entered[i]))
        return found


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


def local_of_layers(theta: Theta, at: Layered, i: int, by_features: Tensor) -> Tensor:
    """∂s/∂φ_i for the states that features of i enter, (states, S, m)."""
    second = by_features * (at.f[i] > 0)
    first = (second @ theta["B"][i]) * (at.z[i] > 0)
    A, B = first.unsqueeze(-1) * at.seen[i], second.unsqueeze(-1) * at.z[i]
    return torch.cat([A.flatten(2), first, B.flatten(2), second], dim=-1)


def column_spans(network: ListedNetwork) -> dict[str, list[slice]]:
    """By name and column, where its weights are: they are neighbours, in lists as well."""
    found = {}
    for name, owner in network.owner.items():
        each = network.theta[name].numel() // max(1, owner.numel())
        ends = torch.searchsorted(owner.flatten(), torch.arange(network.columns + 1)) * each
        found[name] = [slice(begin, end) for begin, end in pairwise(ends.tolist())]
    return found
