"""Steps as one graph, through which credit goes back: what bptt and both truncations keep.

Each step has the θ that was passed to it. The graph is of the steps as they were computed then; where it is copied or
saved, it is left out, and made anew by taking the same steps again.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from colrun.estimators.online import leaves
from colrun.networks.base import Gradients, Theta
from colrun.readout import Predicted, Readout


class Taken(NamedTuple):
    """What a step was given."""

    place: int
    """Of its θ among those of the graph."""
    x_t: Tensor
    y_t: Tensor
    counted: bool


class Unrolled:
    """Consecutive steps from a state and a w. It does not change: `take` gives a longer one."""

    def __init__(self, readout: Readout, s: Tensor, w: Tensor, credited: bool = False) -> None:
        """`credited`: whether what is before the first step takes credit too, or is a constant."""
        self.readout = readout
        self.before = [s.detach(), w.detach()] if readout.meta else [s.detach()]
        if credited:
            self.before = [each.requires_grad_() for each in self.before]
        self.s, self.w = self.before[0], self.before[1] if readout.meta else w.detach()
        self.first_w = self.w
        self.given: tuple[tuple[Theta, Theta], ...] = ()
        """Every θ that was passed, as it came and as leaves of the graph."""
        self.taken: tuple[Taken, ...] = ()
        self.loss: Tensor | None = None
        """The sum of those that are counted; None if there are none."""

    @property
    def after(self) -> list[Tensor]:
        """As `before`, after the last step."""
        return [self.s, self.w] if self.readout.meta else [self.s]

    def take(self, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool) -> tuple["Unrolled", Predicted]:
        """One step more, with its graph."""
        found = Unrolled.__new__(Unrolled)
        found.__dict__.update(self.__dict__)
        if not self.given or any(value is not theta[name] for name, value in self.given[-1][0].items()):
            found.given = (*self.given, (dict(theta), leaves(theta)))
        return found, found._extend(Taken(len(found.given) - 1, x_t, y_t, counted))

    def _extend(self, taken: Taken) -> Predicted:
        theta = self.given[taken.place][1]
        self.s = self.readout.network.step(theta, taken.x_t, self.s)
        predicted = self.readout.predict(theta, self.s, self.w, taken.y_t, taken.counted)
        self.w = predicted.w_tp1
        if taken.counted:
            self.loss = predicted.loss if self.loss is None else self.loss + predicted.loss
        self.taken = (*self.taken, taken)
        return predicted

    def back(
        self, outputs: list[Tensor], credit: list[Tensor] | None = None, into_before: bool = False
    ) -> tuple[Gradients, list[Tensor]]:
        """The gradient with respect to θ, summed over the steps' own, and that with respect to `before`."""
        names = list(self.given[0][0])
        wanted = [value for _, theta in self.given for value in theta.values()]
        inputs = [*wanted, *self.before] if into_before else wanted
        grads = torch.autograd.grad(outputs, inputs, credit, retain_graph=True, materialize_grads=True)
        found = dict(zip(names, grads, strict=False))
        for place in range(1, len(self.given)):
            found = summed(found, dict(zip(names, grads[place * len(names) :], strict=False)))
        return found, list(grads[len(wanted) :])

    def __getstate__(self) -> dict[str, Any]:
        """Without the graph."""
        thetas = [{name: value.detach() for name, value in theta.items()} for _, theta in self.given]
        start = self.readout, self.before[0].detach(), self.first_w.detach(), self.before[0].requires_grad
        return {"start": start, "thetas": thetas, "taken": self.taken}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The same steps again."""
        self.__init__(*state["start"])  # type: ignore[misc]
        self.given = tuple((theta, leaves(theta)) for theta in state["thetas"])
        for taken in state["taken"]:
            self._extend(taken)


def summed(one: Gradients, other: Gradients) -> Gradients:
    """By name. Never into one of them: autograd may give one tensor for several inputs."""
    return {name: value + other[name] for name, value in one.items()}
