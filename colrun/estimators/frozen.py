"""No gradient at all: θ stays as it was drawn, and only w learns. What every learner must beat."""

from torch import Tensor

from colrun.estimators.online import Memory, Online, Step
from colrun.networks.base import Theta
from colrun.readout import Readout


class OnlineFrozen(Online[Memory]):
    def start(self, readout: Readout) -> Memory:
        return Memory(readout, readout.network.initial_state(), readout.start())

    def step(self, memory: Memory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True) -> tuple[Memory, Step]:
        readout = memory.readout
        s_t = readout.network.step(theta, x_t, memory.s).detach()
        predicted = readout.predict(theta, s_t, memory.w, y_t, counted)
        return Memory(readout, s_t, predicted.w_tp1.detach()), Step.of({}, predicted, s_t)


ONLINE = {"frozen": OnlineFrozen}
