"""`Learner`: a network that learns at every step from an estimator's own gradient.

At step t, all from values before the update: s(t), y(t) and δ(t) with θ(t) and w(t); ĝ(t), the estimator's gradient of
½ δ(t)², its memory carried on although θ moves; then θ(t+1) = θ(t) - optimiser(ĝ(t)), w(t+1) = w(t) + α δ(t) [h(t); 1].
Where a step is not counted, the network and the estimator's memory advance and nothing learns.
"""

import math
from pathlib import Path
from typing import Any, Self

import pandas as pd
import torch
from torch import Tensor

from colrun.errors import InvalidValueError, choose, positive_int
from colrun.estimators import EstimatorName, get_online, parse_estimator, why_no_learner, why_undefined
from colrun.estimators.online import Memory, Online
from colrun.lanes.readout import LARGEST_ERROR
from colrun.learning import curves
from colrun.learning.bins import BINS, ends
from colrun.learning.compiled import Compiled, runs_compiled
from colrun.learning.optimisers import Moments, update
from colrun.learning.setting import Learned, Setting
from colrun.networks.base import Network, Theta
from colrun.output import writing
from colrun.testbed import check_step_size

OPTIMISERS = ("sgd", "rmsprop", "adam")


class Learner:
    """Made by `colrun.learner`."""

    def __init__(self, network: Network, setting: Setting) -> None:
        self._first, self.setting = network, setting
        self.steps = 0
        self.diverged_at: int | None = None
        """The step, counted from 1, at which an error was not finite or beyond 1000; nothing learns after it."""
        self._now: Stepwise | Compiled = Stepwise(network, setting)

    @property
    def theta(self) -> Theta:
        """θ as it is now."""
        return self._now.theta

    @property
    def w(self) -> Tensor:
        """w as it is now and, with a bias, w_0 last."""
        return self._now.w

    @property
    def state(self) -> Tensor:
        """s as it is now, (S, C)."""
        return self._now.state

    @property
    def network(self) -> Network:
        """A network with θ and w as they are now, to look at or to compare gradients on; w_0 is not part of it."""
        return self._first.at(self.theta, self.w[:-1] if self.setting.readout_bias else self.w)

    def step(self, x: Any, y: Any, counted: bool = True, gradient: bool = False) -> Learned:
        """Predict, then learn from the target."""
        dtype = self._first.dtype
        x_t, y_t = torch.as_tensor(x, dtype=dtype), torch.as_tensor(y, dtype=dtype)
        self._check(x_t, y_t)
        if self.diverged_at is not None:
            raise InvalidValueError(f"this learner diverged at step {self.diverged_at}; make a new one.")
        found = self._now.step(x_t, y_t, bool(counted), gradient)
        self.steps += 1
        if counted and not abs(found.error) <= LARGEST_ERROR:
            self.diverged_at = self.steps
        return found

    def _check(self, x_t: Tensor, y_t: Tensor) -> None:
        if x_t.shape != (self._first.inputs,) or y_t.numel() != 1:
            raise InvalidValueError(
                f"a step needs x with {self._first.inputs} numbers and one target; got {tuple(x_t.shape)} and "
                f"{tuple(y_t.shape)}."
            )
        if not (x_t.isfinite().all() and y_t.isfinite().all()):
            raise InvalidValueError(f"step {self.steps + 1} holds a value that is not finite; it must be a number.")

    def run(self, task: str, steps: int, bins: int = BINS, seed: int | None = None) -> pd.DataFrame:
        """Learn a task from its first step on: the mean squared error of every bin, `step` being its last.

        By compiled kernels where the estimator and the network have them and nothing was learned before; the learner
        then goes on with them. The stream is that of `seed`, by default the network's.
        """
        steps, bins = positive_int(steps, "steps"), positive_int(bins, "bins")
        if self.steps == 0 and isinstance(self._now, Stepwise) and runs_compiled(self._first, self.setting):
            self._now = Compiled(self._first, self.setting)
        began = self.steps
        found = curves.run(
            self, curves.source(task, self._first.seed if seed is None else seed, self._first.inputs), steps, bins
        )
        ended = math.inf if self.diverged_at is None else self.diverged_at - began
        rows = [
            (end, errors / counts if counts and end < ended else None)
            for end, (errors, counts) in zip(ends(steps, bins), found, strict=True)
        ]
        return pd.DataFrame(rows, columns=["step", "mse"])

    def advance(self, x: Any, y: Any, counted: Any) -> tuple[float, int]:
        """Several steps: Σ δ² and the number of those that are counted, until it diverges."""
        if isinstance(self._now, Compiled):
            errors, counts, ended = self._now.run(x, y, counted)
            self.steps += len(y)
            self.diverged_at = ended
            return errors, counts
        errors, counts = 0.0, 0
        for x_t, y_t, count in zip(x, y, counted, strict=True):
            error = self.step(x_t, y_t, count).error
            if self.diverged_at is not None:
                break
            if count:
                errors, counts = errors + error**2, counts + 1
        return errors, counts

    def save(self, path: str | Path) -> None:
        """All of it, with its network: `colrun.Learner.load(path)` goes on from here."""
        with writing(Path(path)) as whole, whole.open("wb") as file:
            torch.save(self, file)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """As saved. Like every pickle, it can run any code: load only what you trust."""
        found = torch.load(Path(path), weights_only=False)
        if not isinstance(found, cls):
            raise InvalidValueError(f"{path} holds no learner; it must be a file written by learner.save.")
        return found


class Stepwise:
    """By the online form, step by step in torch: any network, any estimator."""

    def __init__(self, network: Network, setting: Setting) -> None:
        self.setting = setting
        self.online: Online[Any] = get_online(setting.estimator, setting.draw)
        self.memory: Memory = self.online.init(network, setting.step_size, setting.meta, setting.readout_bias)
        self.theta = {name: value.detach() for name, value in network.theta.items()}
        self.moments = Moments.zero(self.theta)

    @property
    def w(self) -> Tensor:
        return self.memory.w

    @property
    def state(self) -> Tensor:
        return self.memory.s

    def step(self, x_t: Tensor, y_t: Tensor, counted: bool, gradient: bool) -> Learned:
        self.memory, step = self.online.step(self.memory, self.theta, x_t, y_t, counted)
        if step.gradient and self.setting.theta_step_size is not None:
            self.theta, self.moments = update(
                self.setting.optimiser, self.setting.theta_step_size, self.theta, self.moments, step.gradient
            )
        return Learned(float(step.prediction), float(step.error), step.gradient or None if gradient else None)


def learner(
    network: Network,
    estimator: str = "master-user",
    *,
    optimiser: str = "rmsprop",
    theta_step_size: float | None = 1e-3,
    step_size: float | None = None,
    meta: bool = False,
    readout_bias: bool | None = None,
    draw: int = 0,
) -> Learner:
    """A learner on a network of colrun's or one's own (`colrun.own_network`).

    `theta_step_size` is η, with which θ learns by `optimiser` ("sgd", "rmsprop" or "adam"); `step_size` is α of w's
    LMS, by default 0.2/(C+1) for C readout weights. `meta` lets gradients go through LMS, `readout_bias` adds w_0 (by
    default, where there is a w), and `draw` is that of a stochastic estimator's noise.
    """
    if not isinstance(network, Network):
        raise InvalidValueError(
            f"the first argument is a {type(network).__name__}; it must be a network, from colrun.network, "
            "colrun.dense_network or colrun.own_network."
        )
    name = parse_learner(estimator)
    why = why_undefined(name.family, network.cell, learns=True)
    if why is not None:
        raise InvalidValueError(f"{why}; choose another estimator or cell.")
    choose(optimiser, OPTIMISERS, "optimiser")
    eta = None if name.family == "frozen" else _eta(theta_step_size)
    alpha = check_step_size(step_size)
    if alpha is None and network.w is not None:
        alpha = default_step_size(len(network.w))
    bias = network.w is not None if readout_bias is None else readout_bias
    return Learner(network, Setting(name, optimiser, eta, alpha, meta, bias, positive_int(draw, "draw", least=0)))


def default_step_size(readout: int) -> float:
    """α by default, of so many readout weights."""
    return 0.2 / (readout + 1)


def _eta(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise InvalidValueError(f"theta_step_size is {value!r}; it must be a finite number above 0.")


def parse_learner(name: str) -> EstimatorName:
    """An estimator that can learn online."""
    found = parse_estimator(name)
    why = why_no_learner(found.family)
    if why is not None:
        raise InvalidValueError(why)
    return found
