"""Delayed recall, `cue-a-b`: a sign is shown once and must be said when it is asked for.

Inputs (cue, query, two of fair ±1 noise). A cue ±1 for one step, the first at the first step; after D ~ U{a..b} steps
query = 1 and the target is the cue. At all other steps the target is 0. The next cue comes D + gap + 1 steps after this
one, gap ~ U{2..4}.

Trivial level: 1/(E[D] + 4), the share of steps with a target, by predicting 0.
"""

import numpy as np

from colrun import streams
from colrun.streams import Array
from colrun.tasks import Stream, in_order
from colrun.tasks.trials import Trials, place, sign, whole

GAP = (2, 4)


class Cue:
    inputs = 4

    def __init__(self, low: int, high: int) -> None:
        in_order("cue", low, high)
        self.low, self.high = low, high
        self.trivial = 1 / ((low + high) / 2 + sum(GAP) / 2 + 1)

    def source(self, seed: int, inputs: int) -> "Source":  # noqa: ARG002
        return Source(self, seed)

    def trials(self, uniform: Array) -> tuple[Array, ...]:
        """Length, delay and cue."""
        delay, gap = whole(uniform[:, 1], self.low, self.high), whole(uniform[:, 2], *GAP)
        return delay + gap + 1, delay, sign(uniform[:, 0])


class Source:
    def __init__(self, task: Cue, seed: int) -> None:
        self.trials = Trials(seed, "cue.trials", 3, task.trials)
        self.noise = streams.stream(seed, "cue.noise")
        self.at = 0

    def take(self, steps: int) -> Stream:
        begin, _, delay, cue = self.trials.between(self.at, self.at + steps)
        x, y = np.zeros((steps, 4)), np.zeros(steps)
        place(x[:, 0], begin, cue, self.at)
        place(x[:, 1], begin + delay, 1.0, self.at)
        place(y, begin + delay, cue, self.at)
        x[:, 2:] = sign(self.noise.random((steps, 2)))
        self.at += steps
        return Stream(x, y, np.ones(steps, dtype=np.bool_))


make = Cue
