"""The paper's test-bed: x(t) ∈ {0,1}^inputs with fair independent bits, y*(t) ~ Uniform(-50, 50)."""

import numpy as np

from colrun.streams import unit_uniform
from colrun.tasks import Stream

TARGET_RANGE = 50.0


class Random:
    """Nothing to learn: gradients are compared on it, not outcomes."""

    def stream(self, seed: int, steps: int, inputs: int) -> Stream:
        """Inputs and targets have streams of their own."""
        x = (unit_uniform(seed, "x", steps, inputs) < 0.5).astype(np.float64)
        y = TARGET_RANGE * (2 * unit_uniform(seed, "y", steps) - 1)
        return Stream(x, y, np.ones(steps, dtype=np.bool_))


TASK = Random()
