"""The online form of an estimator, as published: what a learner runs, step by step, with θ passed in every time.

    memory = online.init(network, step_size)
    memory, step = online.step(memory, theta, x_t, y_t)        for every step
    rest = online.finish(memory)

`step.gradient` is ĝ(t). It is empty where a step brings none, so that θ has nothing to learn from it: where the step is
not counted, within a block, or always with bptt. `finish` gives what is still open, in the same way. θ moves by passing
other tensors, never by writing into those that were passed; the memory is never reset. With θ still, the sum over a
sequence is the gradient of Σ_t L(t) as the estimator sees it.

A memory is never written to: `step` gives another one. So it can be kept and gone back to, copied by `copy.deepcopy`,
and saved by `pickle` or `torch.save` if the network can.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName
from colrun.networks.base import Gradients, Network, Theta
from colrun.readout import Predicted, Readout
from colrun.testbed import Sequence


class Step(NamedTuple):
    """What one step gives, without any graph."""

    gradient: Gradients
    """ĝ(t) by name; empty where there is none."""
    prediction: Tensor
    error: Tensor
    """δ(t)"""
    state: Tensor
    """s(t), (S, C)"""

    @classmethod
    def of(cls, gradient: Gradients, predicted: Predicted, s_t: Tensor) -> "Step":
        return cls(gradient, predicted.prediction.detach(), predicted.delta.detach(), s_t.detach())


@dataclass(frozen=True)
class Memory:
    """What every estimator carries from step to step; each adds its own."""

    readout: Readout
    s: Tensor
    w: Tensor

    def weights(self) -> list[Tensor]:
        """What of it is θ itself, in another form: none of the estimator's own memory."""
        return []


M = TypeVar("M", bound=Memory)


@dataclass(frozen=True)
class Online(ABC, Generic[M]):
    """One estimator, by its name, and of a stochastic one which draw of its noise."""

    name: EstimatorName
    draw: int = 0

    needs_columns: ClassVar[bool] = False
    """Whether it is defined on networks with columns only."""
    instead: ClassVar[str] = "master-user-groups"
    """What to use without columns."""
    takes_lists: ClassVar[bool] = True
    """Whether it runs on networks whose lateral weights are lists (networks/listed.py)."""
    steady: ClassVar[bool] = False
    """Whether every step takes the same work once its window is full, and nothing is open at the end."""

    @property
    def window(self) -> int:
        """The number after its name."""
        assert self.name.window is not None
        return self.name.window

    def init(self, network: Network, step_size: float | None = None, meta: bool | None = None, bias: bool = False) -> M:
        """The memory before the first step.

        `step_size` is α of LMS, None where w is fixed; `meta` says whether ĝ also goes through LMS (by default if w
        learns), and `bias` whether the readout has a w_0.
        """
        if self.needs_columns and network.owner is None:
            raise InvalidValueError(f"{network.kind} has no columns, which {self.name} needs; use {self.instead}.")
        through = step_size is not None and meta is not False
        return self.start(Readout(network, step_size, through, bias))

    @abstractmethod
    def start(self, readout: Readout) -> M:
        """The memory before the first step of a network with this readout."""

    @abstractmethod
    def step(self, memory: M, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True) -> tuple[M, Step]:
        """One step at θ(t)."""

    def finish(self, memory: M) -> Gradients:  # noqa: ARG002
        """The gradient of losses that no step has given yet; empty if there are none. One may go on afterwards."""
        return {}


def leaves(theta: Theta) -> Theta:
    """The same numbers, for derivatives by them: nothing is copied."""
    return {name: value.detach().requires_grad_() for name, value in theta.items()}


def zeros(theta: Theta, *leading: int) -> Theta:
    """By name, each with leading dimensions before its own."""
    return {name: value.new_zeros(*leading, *value.shape) for name, value in theta.items()}


def add(total: Gradients, gradient: Mapping[str, Tensor]) -> None:
    """Into the total; an empty gradient adds nothing."""
    for name, value in gradient.items():
        total[name] += value


class Summed(NamedTuple):
    """A sequence with θ still."""

    gradient: Gradients
    errors: Tensor
    """δ(t) of the counted steps."""


def run(
    online: Online[M],
    network: Network,
    sequence: Sequence,
    step_size: float | None = None,
    meta: bool | None = None,
    bias: bool = False,
) -> Summed:
    """Σ_t ĝ(t) over a sequence, θ still."""
    memory = online.init(network, step_size, meta, bias)
    total, errors = zeros(network.theta), []
    for x_t, y_t, counted in zip(sequence.x, sequence.y, sequence.counted.tolist(), strict=True):
        memory, step = online.step(memory, network.theta, x_t, y_t, counted)
        add(total, step.gradient)
        errors += [step.error] if counted else []
    add(total, online.finish(memory))
    return Summed(total, torch.stack(errors) if errors else sequence.y.new_zeros(0))
