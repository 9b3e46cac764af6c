"""An online form that always runs on lists of lateral weights, so that it works on what exists whatever it is given."""

from dataclasses import dataclass, replace
from typing import Self, TypeVar

from torch import Tensor

from colrun.errors import InvalidValueError
from colrun.estimators.online import Memory, Online
from colrun.networks.base import Gradients, Theta
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.listed import ListedNetwork, list_laterals
from colrun.readout import Readout


@dataclass(frozen=True)
class ListsMemory(Memory):
    """`readout` is that of the listed network; θ comes and gradients go as those of the network that was given."""

    given: ColumnarNetwork
    known: tuple[Theta, Theta]
    """θ as it was passed last, and in lists."""

    @property
    def listed(self) -> ListedNetwork:
        network = self.readout.network
        assert isinstance(network, ListedNetwork)
        return network

    def weights(self) -> list[Tensor]:
        """θ in lists: another form of what was passed."""
        return list(self.known[1].values())

    def at(self, theta: Theta) -> tuple[Self, Theta]:
        """The lists of θ; nothing is copied where it has not moved."""
        if self.given is self.listed:
            return self, {name: value.detach() for name, value in theta.items()}
        passed, lists = self.known
        if any(value is not theta[name] for name, value in passed.items()):
            lists = self.listed.listed({name: value.detach() for name, value in theta.items()})
        return replace(self, known=(dict(theta), lists)), lists

    def as_given(self, gradient: Gradients) -> Gradients:
        """Named and shaped as θ is."""
        return gradient if self.given is self.listed else self.listed.unlisted(gradient)


L = TypeVar("L", bound=ListsMemory)


class OnLists(Online[L]):
    """What the online forms on lists share."""

    steady = True
    needs_columns = True

    def begin(self, readout: Readout) -> ListsMemory:
        """With the network's own θ in lists already."""
        network = readout.network
        assert isinstance(network, ColumnarNetwork)
        if network.architecture.width == 0:
            raise InvalidValueError(f"{self.name} runs step by step on networks of width 1 or more only.")
        listed = network if isinstance(network, ListedNetwork) else list_laterals(network)
        known = ({}, {}) if listed is network else (dict(network.theta), listed.theta)
        readout = replace(readout, network=listed)
        return ListsMemory(readout, listed.initial_state(), readout.start(), network, known)
