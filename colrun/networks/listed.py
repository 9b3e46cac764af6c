"""A columnar network whose lateral weights are lists of those that exist, so that masked weights cost nothing.

The same function of the same weights as the network it is made from, for the online forms: what an estimator does per
step is then work on weights that exist, which is what the experiment `cost` measures. θ by name: `A`, `b`, `B`, `c` as
before and, for each gate such as `p`, `U.p` (C, W), a column's own features, `U.p.lateral` and `R.p`, lists, and `q.p`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork


class Places(NamedTuple):
    """Where listed weights of one tensor lead: number n goes from `source[n]` into column `to[n]`."""

    to: Tensor
    source: Tensor
    """A column, or for U a feature: unit w of column j is j·W + w."""
    own: Tensor
    """Whether it comes from the column itself."""


@dataclass(frozen=True, repr=False)
class ListedNetwork(ColumnarNetwork):
    """Nothing in it is masked."""

    fast = False
    whole: ColumnarNetwork
    """The network it is made from."""
    places: dict[str, Places]

    @property
    def lateral_weights(self) -> int:
        """Those of the whole network."""
        return self.whole.lateral_weights

    @property
    def owner(self) -> dict[str, Tensor]:
        """The column that a listed weight leads into owns it."""
        return super().owner | {name: places.to for name, places in self.places.items()}

    def from_features(self, theta: dict[str, Tensor], gate: str, f_t: Tensor, stop_lateral: bool) -> Tensor:
        """U f: own features column by column, then the list."""
        own = (theta[f"U.{gate}"] * f_t).sum(-1)
        name = f"U.{gate}.lateral"
        to, source, _ = self.places[name]
        if not len(to):
            return own
        features = (f_t.detach() if stop_lateral else f_t).flatten(-2)
        return own.index_add(-1, to, theta[name] * features.index_select(-1, source))

    def from_states(self, theta: dict[str, Tensor], gate: str, h_tm1: Tensor, stop_lateral: bool) -> Tensor:
        """R h(t-1)."""
        to, source, own = self.places[f"R.{gate}"]
        states = h_tm1.index_select(-1, source)
        if stop_lateral:
            states = torch.where(own, states, states.detach())
        return torch.zeros_like(h_tm1).index_add(-1, to, theta[f"R.{gate}"] * states)

    def listed(self, values: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors by name of the whole network, as this one names and shapes them."""
        return listed(self.whole, values)

    def unlisted(self, values: dict[str, Tensor]) -> Gradients:
        """The way back; zero where the weight is masked."""
        found = {}
        for name, mask in self.whole.masks.items():
            if name[0] not in "UR":
                found[name] = values[name].clone()
                continue
            found[name] = values[name].new_zeros(mask.shape)
            if name[0] == "U":
                to, source, _ = self.places[f"{name}.lateral"]
                found[name].flatten(1)[to, source] = values[f"{name}.lateral"]
                found[name].diagonal(dim1=0, dim2=1).copy_(values[name].T)
            else:
                to, source, _ = self.places[name]
                found[name][to, source] = values[name]
        return found


def list_laterals(network: ColumnarNetwork) -> ListedNetwork:
    """The same network with its lateral weights as lists."""
    theta = listed(network, network.theta)
    masks = {name: torch.ones(value.shape, dtype=torch.bool) for name, value in theta.items()}
    places = {}
    for name, mask in network.masks.items():
        if name[0] == "U":
            to, column, unit = _lateral(mask).nonzero().unbind(1)
            places[f"{name}.lateral"] = Places(to, column * mask.shape[2] + unit, to == column)
        elif name[0] == "R":
            to, column = mask.nonzero().unbind(1)
            places[name] = Places(to, column, to == column)
    return ListedNetwork(network.architecture, network.seed, theta, masks, network.w, network, places)


def listed(network: ColumnarNetwork, values: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors by name and shape of `network`, with lateral weights as lists."""
    found = {}
    for name, value in values.items():
        if name[0] == "U":
            found[name] = torch.diagonal(value, dim1=0, dim2=1).T.clone()
            found[f"{name}.lateral"] = value[_lateral(network.masks[name])]
        elif name[0] == "R":
            found[name] = value[network.masks[name]]
        else:
            found[name] = value
    return found


def _lateral(mask: Tensor) -> Tensor:
    """True where a lateral U weight exists."""
    return mask & ~torch.eye(mask.shape[0], dtype=torch.bool).unsqueeze(-1)
