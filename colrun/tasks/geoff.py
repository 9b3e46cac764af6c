"""A changing nonlinear target (Veeriah, Zhang and Sutton 2017, smaller): what three random networks say, in turn.

Inputs: 20 fair bits and a constant 1. A target network has 100 threshold units on the bits, with weights ±1, that are 1
where their sum exceeds 0.6 · 20 - (number of negative weights), else 0, and output weights in {-1, 0, 1}, each as
likely. Three of them, A, B, C, are drawn by the seed and set the target for 5,000 steps each: A, B, C, A, B, C, and so
on. Noise N(0, 1) is added to the target.

No trivial level: it is another one for every seed.
"""

import numpy as np

from colrun import streams
from colrun.streams import Array
from colrun.tasks import Stream
from colrun.tasks.trials import sign, whole

BITS, UNITS, NETWORKS, EVERY = 20, 100, 3, 5_000
SHARE = 0.6


class Geoff:
    inputs = BITS + 1
    trivial = None

    def source(self, seed: int, inputs: int) -> "Source":  # noqa: ARG002
        return Source(seed)


class Source:
    def __init__(self, seed: int) -> None:
        self.x, self.noise = streams.stream(seed, "geoff.x"), streams.stream(seed, "geoff.noise")
        self.weights = sign(streams.unit_uniform(seed, "geoff.weights", NETWORKS, BITS, UNITS))
        self.output = whole(streams.unit_uniform(seed, "geoff.output", NETWORKS, UNITS), -1, 1).astype(np.float64)
        self.threshold = SHARE * BITS - (self.weights < 0).sum(1)
        self.at = 0

    def take(self, steps: int) -> Stream:
        bits = (self.x.random((steps, BITS)) < 0.5).astype(np.float64)
        y = np.empty(steps)
        which = (np.arange(self.at, self.at + steps) // EVERY) % NETWORKS
        for network in np.unique(which):
            y[which == network] = self.target(int(network), bits[which == network])
        self.at += steps
        y += self.noise.standard_normal(steps)
        return Stream(np.concatenate([bits, np.ones((steps, 1))], axis=1), y, np.ones(steps, dtype=np.bool_))

    def target(self, network: int, bits: Array) -> Array:
        """Without noise; sums of whole numbers, so exact."""
        active = bits @ self.weights[network] > self.threshold[network]
        found: Array = active @ self.output[network]
        return found


def make() -> Geoff:
    return Geoff()
