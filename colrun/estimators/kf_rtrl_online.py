"""The online form of KF-RTRL: see kf_rtrl.py."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.estimators.on_lists import ListsMemory, OnLists
from colrun.estimators.online import Step
from colrun.estimators.stochastic import Signs, balance
from colrun.networks.base import Gradients, Theta
from colrun.networks.columnar import Layered
from colrun.networks.links import Links
from colrun.networks.listed import ListedNetwork
from colrun.readout import Readout, error_tangent, w_tangent


class Pair(NamedTuple):
    """u and A (Q, K, rows) of K matrices of one shape.

    u is (K, columns); where matrices are single rows of listed weights it is one list, and `matrix` tells whose each
    is.
    """

    u: Tensor
    A: Tensor
    matrix: Tensor | None = None

    def norms(self, u: Tensor) -> Tensor:
        """Of each matrix' part of u, (K,)."""
        if self.matrix is None:
            return u.square().sum(1).sqrt()
        return u.new_zeros(self.A.shape[1]).index_add_(0, self.matrix, u.square()).sqrt()

    def scaled(self, scale: Tensor, u: Tensor) -> Tensor:
        """Each matrix' part of u times its own number."""
        return scale.unsqueeze(1) * u if self.matrix is None else scale[self.matrix] * u

    def take_in(self, seen: Tensor, D: Tensor, J: Tensor, sign: Tensor) -> "Pair":
        """One step; D is (P, K, rows), and rows of A beyond P, those of w, have moved already."""
        P = D.shape[0]
        moved = torch.cat([torch.tensordot(J, self.A[:P], dims=1), self.A[P:]])
        p1, p1_inverse = balance(moved.square().sum((0, 2)).sqrt(), self.norms(self.u))
        p2, p2_inverse = balance(D.square().sum((0, 2)).sqrt(), self.norms(seen))
        A = p1_inverse[:, None] * moved
        A[:P] += (sign * p2_inverse)[:, None] * D
        return Pair(self.scaled(p1, self.u) + self.scaled(sign * p2, seen), A, self.matrix)


@dataclass(frozen=True)
class PairsMemory(ListsMemory):
    """A pair of every kind of matrix, and the signs to come."""

    links: Links
    signs: Signs
    pairs: list[Pair]


class OnlineKFRTRL(OnLists[PairsMemory]):
    """Pairs of every kind; derivatives by pre-activations in closed form, along links that exist."""

    instead = "uoro"

    def start(self, readout: Readout) -> PairsMemory:
        memory = self.begin(readout)
        listed = memory.listed
        C, W, K = listed.columns, listed.architecture.width, len(listed.gates) * listed.columns
        Q = memory.s.numel() + (len(memory.w) if readout.meta else 0)
        new, theta = memory.w.new_zeros, listed.theta
        pairs = [Pair(new(C, theta["A"].shape[-1] + 1), new(Q, C, W)), Pair(new(C, W + 1), new(Q, C, W))]
        for names in lists_of(listed):
            matrix = torch.cat([row_of(listed, name).expand(theta[name].shape).flatten() for name in names])
            pairs.append(Pair(new(len(matrix)), new(Q, K, 1), matrix))
        signs = Signs(listed.seed, self.name.family, self.draw)
        return PairsMemory(**vars(memory), links=Links(listed), signs=signs, pairs=pairs)

    def step(
        self, memory: PairsMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[PairsMemory, Step]:
        """Forward, the pairs, the gradient, then LMS and its tangent."""
        memory, theta = memory.at(theta)
        readout, s_tm1, noise = memory.readout, memory.s, memory.signs.copy()
        at = memory.listed.layers(theta, x_t, s_tm1)
        P = at.s.numel()
        J, D = derivatives(memory, theta, at)
        predicted = readout.predict(theta, at.s, memory.w, y_t, counted)
        delta, by_state, seen = predicted.delta, readout.slope(theta, at.s, memory.w).by_state, readout.seen(at.s)
        sizes = [pair.A.shape[1] for pair in memory.pairs]
        signs = torch.split(noise.take(sum(sizes)).to(at.s.dtype), sizes)
        pairs, credits = [], []
        for pair, fed, local, sign in zip(memory.pairs, inputs(memory.listed, at, s_tm1), D, signs, strict=True):
            taken = pair.take_in(fed, local, J, sign)
            if counted:
                A_s, A_w = taken.A[:P], taken.A[P:]
                d_delta = error_tangent(by_state, A_s, seen, A_w if readout.meta else None)
                credits.append(delta * d_delta)
                if readout.step_size is not None and readout.meta:
                    A_w = w_tangent(readout.step_size, A_w, seen, d_delta, delta, A_s[: len(by_state)])
                    taken = taken._replace(A=torch.cat([A_s, A_w]))
            pairs.append(taken)
        after = replace(memory, s=at.s, w=predicted.w_tp1, signs=noise, pairs=pairs)
        gradient = after.as_given(gradient_of(memory.listed, pairs, credits)) if counted else {}
        return after, Step.of(gradient, predicted, at.s)


def lists_of(network: ListedNetwork) -> list[list[str]]:
    """The names of the weights in each kind of row."""
    kinds = ("Uq", "R") if network.recurrent else ("Uq",)
    return [[name for name in network.theta if name[0] in kind] for kind in kinds]


def row_of(network: ListedNetwork, name: str) -> Tensor:
    """The row of all gates that each weight is in."""
    return network.gates.index(name.split(".")[1]) * network.columns + network.owner[name]


def derivatives(memory: PairsMemory, theta: Theta, at: Layered) -> tuple[Tensor, list[Tensor]]:
    """J (P, P), and D (P, K, rows) of each kind of matrix."""
    links, (S, C), W = memory.links, at.s.shape, at.f.shape[-1]
    partials = links.partials(at, memory.s)
    J = at.s.new_zeros(S, C, S, C)
    J[:, links.to, :, links.source] = links.by_states(theta, at, partials)[:-1]
    to, source = links.to[: links.of_features], links.source[: links.of_features]
    second = links.by_features(theta, at, partials) * (at.f > 0)[source].unsqueeze(1)
    first = (second @ theta["B"][source]) * (at.z > 0)[source].unsqueeze(1)
    D = [at.s.new_zeros(S, C, C, W) for _ in range(2)]
    for whole, part in zip(D, (first, second), strict=True):
        whole[:, to, source] = part.transpose(0, 1)
    D += [torch.diag_embed(partial).transpose(1, 2) for partial in partials[:2]]  # (S, C, G, C)
    shapes = [(S * C, *pair.A.shape[1:]) for pair in memory.pairs]
    return J.reshape(S * C, S * C), [
        each.reshape(shape) for each, shape in zip(D, shapes, strict=False)
    ]  # no R, no last D


def inputs(network: ListedNetwork, at: Layered, s_tm1: Tensor) -> list[Tensor]:
    """What the weights of each kind multiply, as u."""
    one, places = at.f.new_ones(at.f.shape[0], 1), network.places
    fed = {"U": at.f.flatten(), "q": one.squeeze(1), "R": s_tm1[0]}
    lists = [
        torch.cat([fed[name[0]][places[name].source] if name in places else fed[name[0]] for name in names])
        for names in lists_of(network)
    ]
    return [torch.cat([at.seen, one], dim=1), torch.cat([at.z, one], dim=1), *lists]


def gradient_of(network: ListedNetwork, pairs: list[Pair], credits: list[Tensor]) -> Gradients:
    """credit ⊗ u of each kind of matrix."""
    found: Gradients = {}
    for weight, bias, credit, pair in zip("AB", "bc", credits, pairs, strict=False):
        found[weight] = credit.unsqueeze(-1) * pair.u[:, None, :-1]
        found[bias] = credit * pair.u[:, -1:]
    for names, credit, pair in zip(lists_of(network), credits[2:], pairs[2:], strict=True):
        shapes = [network.theta[name].shape for name in names]
        parts = torch.split(pair.scaled(credit.squeeze(1), pair.u), [shape.numel() for shape in shapes])
        found |= {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
    return {name: found[name] for name in network.theta}
