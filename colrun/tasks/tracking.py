"""A drifting linear target (Sutton 1992): 20 inputs N(0, 1), y* = Σ over the first 5 of s_i x_i, s_i = ±1.

Every 20 steps the sign of one of the 5, each as likely, flips; the first flip comes after step 20, and the signs begin
as the seed draws them. For learners that read x itself.

Trivial level: 5, the target's variance.
"""

import numpy as np

from colrun import streams
from colrun.tasks import Stream
from colrun.tasks.trials import sign, whole

INPUTS, RELEVANT, EVERY = 20, 5, 20


class Tracking:
    inputs = INPUTS
    trivial = float(RELEVANT)

    def source(self, seed: int, inputs: int) -> "Source":  # noqa: ARG002
        return Source(seed)


class Source:
    def __init__(self, seed: int) -> None:
        self.x = streams.stream(seed, "tracking.x")
        self.flips = streams.stream(seed, "tracking.flips")
        self.signs = sign(streams.unit_uniform(seed, "tracking.signs", RELEVANT))
        self.at = 0

    def take(self, steps: int) -> Stream:
        x = self.x.standard_normal((steps, INPUTS))
        y, done = np.empty(steps), 0
        while done < steps:
            if self.at and self.at % EVERY == 0:
                self.signs[whole(self.flips.random(1), 0, RELEVANT - 1)] *= -1
            here = slice(done, min(done + EVERY - self.at % EVERY, steps))
            y[here] = (x[here, :RELEVANT] * self.signs).sum(1)
            self.at += here.stop - done
            done = here.stop
        return Stream(x, y, np.ones(steps, dtype=np.bool_))


def make() -> Tracking:
    return Tracking()
