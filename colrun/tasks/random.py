"""The paper's test-bed: x(t) ∈ {0,1}^inputs with fair independent bits, y*(t) ~ Uniform(-50, 50).

There is nothing to learn: gradients are compared on it, not outcomes.
"""

import numpy as np

from colrun import streams
from colrun.tasks import Stream

TARGET_RANGE = 50.0


class Random:
    inputs = None
    trivial = None

    def source(self, seed: int, inputs: int) -> "Source":
        return Source(seed, inputs)


class Source:
    def __init__(self, seed: int, inputs: int) -> None:
        self.inputs = inputs
        self.x, self.y = streams.stream(seed, "x"), streams.stream(seed, "y")

    def take(self, steps: int) -> Stream:
        x = (self.x.random((steps, self.inputs)) < 0.5).astype(np.float64)
        y = TARGET_RANGE * (2 * self.y.random(steps) - 1)
        return Stream(x, y, np.ones(steps, dtype=np.bool_))


def make() -> Random:
    return Random()
