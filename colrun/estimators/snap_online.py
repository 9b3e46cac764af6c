"""The online form of SnAp: see snap.py. Only what is tracked of the influence matrix is kept, as a list of pairs.

A pair is (column i that owns the weights, state j that they reach); rows of one column are neighbours in the list.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from colrun.estimators.base import Online, predict
from colrun.estimators.reach import tracked
from colrun.networks.cells import get_cell
from colrun.networks.cells.base import Partials
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.trajectory import jacobian

LAYERS = ("A", "b", "B", "c")  # φ; the rest is u


class Pairs(NamedTuple):
    """Pairs in the order of their owners."""

    owner: Tensor
    state: Tensor
    of_column: list[slice]

    @classmethod
    def of(cls, sets: Tensor) -> "Pairs":
        """From a set of states (C, C) for every column."""
        owner, state = sets.nonzero(as_tuple=True)
        ends = sets.sum(1).cumsum(0).tolist()
        return cls(owner, state, [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)])


class Influence:
    """One group of every column: its part of M and, where w learns, of Mw; weights of a column in one row."""

    def __init__(self, sets: Tensor, first: Tensor, order: int, states: int, like: dict[str, Tensor]) -> None:
        C = sets.shape[0]
        self.pairs = Pairs.of(sets)
        self.at_once = first[self.pairs.owner, self.pairs.state].nonzero().squeeze(1)
        self.shapes = {name: value.shape for name, value in like.items()}
        self.sizes = [value[0].numel() for value in like.values()]
        some = next(iter(like.values()))
        self.M = some.new_zeros(len(self.pairs.owner), states, sum(self.sizes))
        self.pairs_w = self.pairs if order == 1 else Pairs.of(torch.ones_like(sets))
        place = torch.zeros(C, C, dtype=torch.long)
        place[self.pairs_w.owner, self.pairs_w.state] = torch.arange(len(self.pairs_w.owner))
        self.place_in_w = place[self.pairs.owner, self.pairs.state]
        self.Mw: Tensor | None = None

    def advance(self, J: Tensor, local: Tensor) -> None:
        """M forward one step; J is (S, C, S, C), `local` the gradients of the pairs `at_once`."""
        for here in self.pairs.of_column:
            states = self.pairs.state[here]
            within = J[:, states][..., states]
            self.M[here] = torch.einsum("spkq,qkm->psm", within, self.M[here])
        self.M[self.at_once] += local

    def d_delta(self, w: Tensor, h: Tensor) -> Tensor:
        """∂δ for the weights of every column, (C, m)."""
        found = self.M.new_zeros(len(self.pairs.of_column), self.M.shape[-1])
        found.index_add_(0, self.pairs.owner, w[self.pairs.state].unsqueeze(1) * self.M[:, 0], alpha=-1)
        if self.Mw is not None:
            found.index_add_(0, self.pairs_w.owner, h[self.pairs_w.state].unsqueeze(1) * self.Mw, alpha=-1)
        return found

    def learn(self, alpha: float, delta: Tensor, h: Tensor, d_delta: Tensor) -> None:
        """Mw forward one step."""
        owner, state = self.pairs_w.owner, self.pairs_w.state
        if self.Mw is None:
            self.Mw = self.M.new_zeros(len(owner), self.M.shape[-1])
        self.Mw += alpha * h[state].unsqueeze(1) * d_delta[owner]
        self.Mw.index_add_(0, self.place_in_w, alpha * delta * self.M[:, 0])

    def named(self, rows: Tensor) -> dict[str, Tensor]:
        """(C, m) by name."""
        parts = torch.split(rows, self.sizes, dim=1)
        return {name: part.reshape(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}


class OnlineSnAp(Online):
    """Local gradients in closed form: column i's features are followed back once for each state that they enter."""

    def __init__(self, network: ColumnarNetwork, step_size: float | None, order: int) -> None:
        super().__init__(network, step_size)
        self.columnar = network
        first, sets = tracked(network.architecture, network.masks, [1, order])
        theta = network.theta
        layers, gates = (
            {name: value for name, value in theta.items() if (name in LAYERS) == chosen} for chosen in (True, False)
        )
        self.of_gates = Influence(sets[0], first[0], order, network.states, gates)
        self.of_layers = Influence(sets[1], first[1], order, network.states, layers)

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """M forward, then the gradient of L(t), then Mw."""
        network, theta, s_tm1 = self.columnar, self.columnar.theta, self.s
        cell = get_cell(network.architecture.cell)
        layered = network.layers(theta, x_t, s_tm1)
        z, f = layered.z, layered.f
        partials = cell.partials(layered.a, layered.r, s_tm1)
        self.s = layered.s
        h_t = self.s[0]
        U, R = (self._gates(kind) for kind in ("U", "R"))
        S, C = self.s.shape
        seen = x_t.expand(C, -1)
        A_h = torch.zeros_like(f)
        if network.architecture.sees_own_state:
            seen, A_h = torch.cat([seen, s_tm1[0].unsqueeze(1)], dim=1), theta["A"][..., -1]
        by_step = Partials(*(each[None, None] for each in partials))
        whole = jacobian(by_step, U[None], R[None], A_h[None], theta["B"][None], z[None, None], f[None, None])
        J = whole.reshape(S, C, S, C)
        _, delta, w_tp1 = predict(self.w, h_t, y_t, self.step_size)
        self.of_gates.advance(J, self._local_of_gates(partials, f, s_tm1[0]))
        self.of_layers.advance(J, self._local_of_layers(partials, U, seen, z, f))
        for influence in (self.of_gates, self.of_layers):
            d_delta = influence.d_delta(self.w, h_t)
            for name, part in influence.named(delta * d_delta).items():
                self.total[name] += part
            if self.step_size is not None:
                influence.learn(self.step_size, delta, h_t, d_delta)
        self.w = w_tp1

    def _gates(self, kind: str) -> Tensor:
        """U (G, C, C, W) or R (G, C, C), zero where masked or where there is none."""
        network = self.columnar
        if f"{kind}.{network.gates[0]}" not in network.theta:
            return self.w.new_zeros(len(network.gates), network.columns, network.columns)
        names = [f"{kind}.{gate}" for gate in network.gates]
        return torch.stack([network.theta[name] * network.masks[name] for name in names])

    def _local_of_gates(self, partials: Partials, f: Tensor, h_tm1: Tensor) -> Tensor:
        """∂s_i/∂u_i, (C, S, m)."""
        network = self.columnar
        found = []
        for name in self.of_gates.shapes:
            kind, gate = name.split(".")
            by = (partials.by_r if kind == "R" else partials.by_a)[:, network.gates.index(gate)].T  # (C, S)
            fed = {"U": f.reshape(-1), "R": h_tm1, "q": torch.ones_like(h_tm1[:1])}[kind]
            exists = network.masks[name].reshape(len(by), 1, -1)
            found.append(by.unsqueeze(-1) * fed * exists)
        return torch.cat(found, dim=-1)

    def _local_of_layers(self, partials: Partials, U: Tensor, seen: Tensor, z: Tensor, f: Tensor) -> Tensor:
        """∂s_j/∂φ_i for every pair in which features of i enter j, (pairs, S, m)."""
        pairs, here = self.of_layers.pairs, self.of_layers.at_once
        owner, state = pairs.owner[here], pairs.state[here]
        of_features = torch.einsum("sgp,gpw->psw", partials.by_a[:, :, state], U[:, state, owner])
        second = of_features * (f > 0)[owner].unsqueeze(1)
        first = torch.einsum("psw,pwv->psv", second, self.columnar.theta["B"][owner]) * (z > 0)[owner].unsqueeze(1)
        A = first.unsqueeze(-1) * seen[owner, None, None]
        B = second.unsqueeze(-1) * z[owner, None, None]
        return torch.cat([A.flatten(2), first, B.flatten(2), second], dim=-1)
