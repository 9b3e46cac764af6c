"""Which columns act on which in one step, as a list, and how strongly: Jacobians of a step without work on zeros."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from colrun.networks.base import Theta
from colrun.networks.cells import get_cell
from colrun.networks.cells.base import Partials
from colrun.networks.columnar import Layered
from colrun.networks.listed import ListedNetwork


class Numbers(NamedTuple):
    """Looks up links by their ends, in a list as long as there are links."""

    columns: int
    pairs: Tensor
    """to·C + source, sorted"""
    order: Tensor

    def of(self, to: Tensor, source: Tensor) -> Tensor:
        """The number of a link; that after the last where there is none. Both broadcast."""
        wanted = to * self.columns + source
        at = torch.searchsorted(self.pairs, wanted).clamp(max=len(self.pairs) - 1)
        return torch.where(self.pairs[at] == wanted, self.order[at], len(self.pairs))


class Links:
    """A link leads from one column to another or to itself: first the C own ones, then those with a weight U, then R.

    `to` and `source` are their ends, and the first `of_features` of them are those with a weight U.
    """

    def __init__(self, network: ListedNetwork) -> None:
        self.network = network
        C, W = network.columns, network.architecture.width
        pairs = torch.arange(C) * (C + 1)  # a pair of columns as one number, to·C + source
        of_U, of_R = (self._pairs(kind) for kind in "UR")
        lateral = _distinct([*of_U.values(), pairs[:0]])
        links = torch.cat([pairs, lateral])
        self.of_features = len(links)
        known = _distinct([links, *of_R.values()])
        links = torch.cat([links, known[~torch.isin(known, links)]])
        self.to, self.source = links // C, links % C
        numbers = self.numbers()
        self.at = {name: numbers.of(found // C, found % C) for name, found in (of_U | of_R).items()}
        """The link of every listed weight."""
        self.unit = {name: network.places[name].source % W for name in of_U}

    def numbers(self) -> "Numbers":
        return Numbers(self.network.columns, *(self.to * self.network.columns + self.source).sort())

    def _pairs(self, kind: str) -> dict[str, Tensor]:
        network = self.network
        width = network.architecture.width if kind == "U" else 1
        return {
            name: places.to * network.columns + places.source // width
            for name, places in network.places.items()
            if name[0] == kind
        }

    def partials(self, at: Layered, s_tm1: Tensor) -> Partials:
        """Of the cell."""
        return get_cell(self.network.architecture.cell).partials(at.a, at.r, s_tm1)

    def by_states(self, theta: Theta, at: Layered, partials: Partials) -> Tensor:
        """∂s_to(t)/∂s_source(t-1), (links + 1, S, S); the last is 0, for pairs without a link."""
        network = self.network
        by_a, by_r, by_s = partials
        S, C = at.s.shape
        by_h = at.s.new_zeros(len(self.to) + 1, S)
        tangent = torch.zeros_like(at.f)
        if network.architecture.sees_own_state:
            tangent = (at.z > 0) * theta["A"][..., -1]
            tangent = (at.f > 0) * torch.einsum("cwv,cv->cw", theta["B"], tangent)
        for g, gate in enumerate(network.gates):
            if network.architecture.sees_own_state:
                by_h[:C] += ((theta[f"U.{gate}"] * tangent).sum(-1) * by_a[:, g]).T
                self._add(by_h, theta, f"U.{gate}.lateral", by_a[:, g], tangent.flatten())
            if network.architecture.recurrent:
                self._add(by_h, theta, f"R.{gate}", by_r[:, g], None)
        found = at.s.new_zeros(len(self.to) + 1, S, S)
        found[:C] = by_s.permute(2, 0, 1)
        found[:, :, 0] += by_h
        return found

    def _add(self, into: Tensor, theta: Theta, name: str, by: Tensor, tangent: Tensor | None) -> None:
        """A list of weights, each times what its source does, into its link."""
        to, source, _ = self.network.places[name]
        weights = theta[name]
        moved = weights if tangent is None else weights * tangent[source]
        into.index_add_(0, self.at[name], (by[:, to] * moved).T)

    def by_features(self, theta: Theta, at: Layered, partials: Partials) -> Tensor:
        """∂s_to(t)/∂f_source(t), (links of features, S, W)."""
        by_a = partials.by_a
        S, C = at.s.shape
        W = at.f.shape[-1]
        found = at.s.new_zeros(self.of_features * W, S)
        for g, gate in enumerate(self.network.gates):
            name = f"U.{gate}.lateral"
            found[: C * W] += (by_a[:, g].unsqueeze(-1) * theta[f"U.{gate}"]).flatten(1).T
            into = self.at[name] * W + self.unit[name]
            found.index_add_(0, into, (by_a[:, g, self.network.places[name].to] * theta[name]).T)
        return found.reshape(-1, W, S).transpose(1, 2)


def _distinct(parts: list[Tensor]) -> Tensor:
    return torch.from_numpy(np.unique(torch.cat(parts).numpy()))
