"""The online form of SnAp: see snap.py. Only what is tracked of the influence matrix is kept, column by column."""

from itertools import pairwise

import torch
from torch import Tensor

from colrun.estimators.base import predict
from colrun.estimators.on_lists import OnLists
from colrun.estimators.reach import tracked
from colrun.networks.cells.base import Partials
from colrun.networks.columnar import ColumnarNetwork, Layered
from colrun.networks.links import Links
from colrun.networks.listed import ListedNetwork

LAYERS = ("A", "b", "B", "c")  # φ; the rest is u


class Influence:
    """One group of one column: its part of M and, where w learns, of Mw; its weights are one row of numbers."""

    def __init__(
        self, reached: Tensor, reached_w: Tensor, place: Tensor, like: Tensor, spans: dict[str, slice]
    ) -> None:
        self.spans = spans
        self.sizes = [span.stop - span.start for span in spans.values()]
        self.reached = reached
        """The states that it tracks."""
        self.within = place[reached][:, reached]
        self.M = like.new_zeros(len(reached), like.shape[0], sum(self.sizes))
        self.reached_w = reached_w
        self.place_in_w = torch.searchsorted(reached_w, reached)
        self.Mw: Tensor | None = None

    def advance(self, by_states: Tensor, local: Tensor, states: Tensor) -> None:
        """M forward one step; `local` (states, S, m) is ∂s(t)/∂θ for the places of `states` among those reached."""
        n, S, m = self.M.shape
        J = by_states[self.within].transpose(1, 2).reshape(n * S, n * S)
        self.M = (J @ self.M.reshape(n * S, m)).reshape(n, S, m)
        self.M[states] += local

    def d_delta(self, w: Tensor, h: Tensor) -> Tensor:
        """∂δ for its weights."""
        found = -(w[self.reached] @ self.M[:, 0])
        return found if self.Mw is None else found - h[self.reached_w] @ self.Mw

    def learn(self, alpha: float, delta: Tensor, h: Tensor, d_delta: Tensor) -> None:
        """Mw forward one step."""
        if self.Mw is None:
            self.Mw = self.M.new_zeros(len(self.reached_w), self.M.shape[-1])
        self.Mw += alpha * h[self.reached_w].unsqueeze(1) * d_delta
        self.Mw[self.place_in_w] += alpha * delta * self.M[:, 0]


class OnlineSnAp(OnLists):
    """Local gradients in closed form: column i's features are followed back once for each state that they enter."""

    def __init__(self, network: ColumnarNetwork, step_size: float | None, order: int) -> None:
        super().__init__(network, step_size)
        listed, whole = self.listed, self.listed.whole
        self.links = Links(listed)
        place = self.links.place()
        masks = {name: mask.numpy() for name, mask in whole.masks.items()}
        (sets,) = map(torch.from_numpy, tracked(whole.architecture, masks, [order]))
        spans = column_spans(listed)
        columns = range(listed.columns)
        every = torch.arange(listed.columns)
        self.of_gates: list[Influence] = []
        self.of_layers: list[Influence] = []
        for group, found in enumerate((self.of_gates, self.of_layers)):
            names = [name for name in spans if (name in LAYERS) == bool(group)]
            for i in columns:
                reached = sets[group, i].nonzero().squeeze(1)
                of_column = {name: spans[name][i] for name in names}
                found.append(Influence(reached, reached if order == 1 else every, place, self.s, of_column))
        source, to = self.links.source[: self.links.of_features], self.links.to[: self.links.of_features]
        self.entering = [(source == i).nonzero().squeeze(1) for i in columns]
        """The links by which features of a column enter states, and the places of those among the states reached."""
        self.entered = [
            torch.searchsorted(influence.reached, to[here])
            for influence, here in zip(self.of_layers, self.entering, strict=True)
        ]
        self.own = [torch.searchsorted(self.of_gates[i].reached, torch.tensor([i])) for i in columns]

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """M forward, then the gradient of L(t), then Mw; column after column."""
        s_tm1 = self.s
        at = self.listed.layers(self.listed.theta, x_t, s_tm1)
        partials = self.links.partials(at, s_tm1)
        self.s = at.s
        _, delta, w_tp1 = predict(self.w, at.s[0], y_t, self.step_size)
        by_states = self.links.by_states(at, partials)
        by_features = self.links.by_features(at, partials)
        of_gates = self._local_of_gates(at, partials, s_tm1[0])
        for i, (gates, layers) in enumerate(zip(self.of_gates, self.of_layers, strict=True)):
            local = torch.cat([of_gates[name][:, span] for name, span in gates.spans.items()], dim=1)
            gates.advance(by_states, local, self.own[i])
            layers.advance(by_states, self._local_of_layers(at, i, by_features[self.entering[i]]), self.entered[i])
            for influence in (gates, layers):
                self._credit(influence, delta, at.s[0])
        self.w = w_tp1

    def _credit(self, influence: Influence, delta: Tensor, h_t: Tensor) -> None:
        d_delta = influence.d_delta(self.w, h_t)
        parts = torch.split(delta * d_delta, influence.sizes)
        for (name, span), part in zip(influence.spans.items(), parts, strict=True):
            self.total[name].view(-1)[span] += part
        if self.step_size is not None:
            influence.learn(self.step_size, delta, h_t, d_delta)

    def _local_of_gates(self, at: Layered, partials: Partials, h_tm1: Tensor) -> dict[str, Tensor]:
        """∂s_i/∂u_i by name, (S, weights)."""
        network = self.listed
        found = {}
        for g, gate in enumerate(network.gates):
            by_a, by_r = partials.by_a[:, g], partials.by_r[:, g]
            found[f"U.{gate}"] = (by_a.unsqueeze(-1) * at.f).flatten(1)
            to, source, _ = network.places[f"U.{gate}.lateral"]
            found[f"U.{gate}.lateral"] = by_a[:, to] * at.f.flatten()[source]
            if network.architecture.recurrent:
                to, source, _ = network.places[f"R.{gate}"]
                found[f"R.{gate}"] = by_r[:, to] * h_tm1[source]
            found[f"q.{gate}"] = by_a
        return found

    def _local_of_layers(self, at: Layered, i: int, by_features: Tensor) -> Tensor:
        """∂s/∂φ_i for the states that features of i enter, (states, S, m)."""
        second = by_features * (at.f[i] > 0)
        first = (second @ self.listed.theta["B"][i]) * (at.z[i] > 0)
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
