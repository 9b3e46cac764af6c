"""An online form that always runs on lists of lateral weights, so that it works on what exists whatever it is given."""

from colrun.estimators.base import Online
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.listed import ListedNetwork, list_laterals


class OnLists(Online):
    """θ and the total are those of the listed network; the gradient is that of the network that was given."""

    def __init__(self, network: ColumnarNetwork, step_size: float | None) -> None:
        self.listed = network if isinstance(network, ListedNetwork) else list_laterals(network)
        self.given = network
        super().__init__(self.listed, step_size)

    def gradient(self) -> Gradients:
        """Named and shaped as those of the network that was given."""
        found = super().gradient()
        return found if self.given is self.listed else self.listed.unlisted(found)
