"""The add task, `add-a-b` with a < b: a fair bit now matters twice later (Marschall, Cho and Savin 2020).

Inputs (bit, 1 - bit), target ½ + ½ bit(t-a) - ¼ bit(t-b). The first b steps are not counted, as bits before the first
step do not exist.

Trivial level: (¼ + 1/16)/4 = 0.0781, the target's variance. Who knows the lag b only is left with 0.0625, who knows the
lag a only with 0.0156.
"""

import numpy as np

from colrun import streams
from colrun.errors import InvalidValueError
from colrun.tasks import Stream


class Add:
    inputs = 2
    trivial = (1 / 4 + 1 / 16) / 4

    def __init__(self, near: int, far: int) -> None:
        if near >= far:
            raise InvalidValueError(f"task add: its first lag, {near}, must be below its second, {far}, as in add-5-9.")
        self.near, self.far = near, far

    def source(self, seed: int, inputs: int) -> "Source":  # noqa: ARG002
        return Source(self, seed)


class Source:
    def __init__(self, task: Add, seed: int) -> None:
        self.task = task
        self.bits = streams.stream(seed, "add.bits")
        self.past = np.zeros(task.far)
        self.at = 0

    def take(self, steps: int) -> Stream:
        near, far = self.task.near, self.task.far
        bits = np.concatenate([self.past, (self.bits.random(steps) < 0.5).astype(np.float64)])
        now = bits[far:]
        y = 0.5 + 0.5 * bits[far - near : len(bits) - near] - 0.25 * bits[: len(bits) - far]
        counted = np.arange(self.at, self.at + steps) >= far
        self.past, self.at = bits[len(bits) - far :], self.at + steps
        return Stream(np.stack([now, 1 - now], axis=1), y, counted)


make = Add
