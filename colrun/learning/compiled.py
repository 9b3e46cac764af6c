"""A learner by compiled kernels: one lane of `colrun.lanes`."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from colrun.lanes.learners import LEARNERS
from colrun.lanes.run import Lanes
from colrun.learning.setting import Learned, Setting
from colrun.networks.base import Network, Theta
from colrun.networks.columnar import ColumnarNetwork
from colrun.streams import Array


def runs_compiled(network: Network, setting: Setting) -> bool:
    """Whether there are kernels for it."""
    return type(network) is ColumnarNetwork and setting.estimator.family in LEARNERS


class Ran(NamedTuple):
    """Several steps."""

    errors: float
    """Σ δ² over counted steps"""
    counts: int
    ended: int | None
    """The step, counted from 1, at which it diverged."""


class Compiled:
    """In place of `Stepwise`."""

    def __init__(self, network: Network, setting: Setting) -> None:
        assert isinstance(network, ColumnarNetwork)
        self.dtype, self.bias = network.dtype, setting.readout_bias
        self.lanes = Lanes(
            network.architecture, str(setting.estimator), [network.seed], [setting.theta_step_size or 0.0],
            optimiser=setting.optimiser, meta=setting.meta, alpha=setting.step_size, readout_bias=setting.readout_bias,
            dtype=str(network.dtype).removeprefix("torch."), draws=setting.draw,
        )  # fmt: skip
        self.lanes.start_from(0, {name: value.numpy() for name, value in network.theta.items()}, network.w.numpy())

    @property
    def theta(self) -> Theta:
        return {name: torch.from_numpy(value).to(self.dtype) for name, value in self.lanes.theta(0).items()}

    @property
    def w(self) -> Tensor:
        found = torch.from_numpy(self.lanes.w(0)).to(self.dtype)
        return found if self.bias else found[:-1]

    @property
    def state(self) -> Tensor:
        return torch.from_numpy(self.lanes.states(0)).to(self.dtype)

    def run(self, x: Array, y: Array, counted: Array) -> Ran:
        sums = self.lanes.run(x[..., None], y[..., None], counted[..., None])
        ended = int(self.lanes.ended[0])
        return Ran(float(sums.errors[0]), int(sums.counts[0]), None if ended < 0 else ended + 1)

    def step(self, x_t: Tensor, y_t: Tensor, counted: bool, gradient: bool) -> Learned:
        w_t, updates = self.lanes.w(0), self.lanes.updates(0)
        self.run(x_t.numpy()[None], y_t.reshape(1).numpy(), np.array([counted]))
        prediction = float(w_t[:-1] @ self.lanes.states(0)[0]) + (float(w_t[-1]) if self.bias else 0.0)
        found = None
        if gradient and self.lanes.updates(0) > updates:
            found = {name: torch.from_numpy(value) for name, value in self.lanes.gradient(0).items()}
        return Learned(prediction, float(y_t) - prediction, found)
