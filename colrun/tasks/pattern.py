"""Trace patterning, `pattern-a-b`, or `pattern-a-b-c-d` with the pause between trials (Rafiee et al. 2023).

Inputs: 6 bits of a stimulus, US, 5 distractors. A stimulus has exactly 3 bits on for one step, the first at the first
step: one of 20 patterns, each as likely, of which 10, drawn by the seed, are valid. Every one draws ISI ~ U{a..b} and
ITI ~ U{c..d} (16 to 24 where not named); the next comes ISI + ITI steps later, and a valid one gives US = 1 after ISI
steps. Distractor j fires with probability 1/(10 j). The target is 0.9^(ISI - 1 - u) at u = 0 … ISI - 1 steps after a
valid stimulus, else 0: the discounted time to the US.

Trivial level: the target's variance over steps. `pattern-24-36-80-120` has the published length.
"""

from itertools import combinations

import numpy as np

from colrun import streams
from colrun.streams import Array
from colrun.tasks import Stream, in_order
from colrun.tasks.trials import Trials, place, whole

DISCOUNT = 0.9
PATTERNS = np.array([[float(bit in on) for bit in range(6)] for on in combinations(range(6), 3)])
CHANCE = 1 / (10 * np.arange(1, 6))


class Pattern:
    inputs = 12

    def __init__(self, low: int, high: int, shortest: int = 16, longest: int = 24) -> None:
        in_order("pattern", low, high)
        in_order("pattern", shortest, longest)
        self.isi, self.iti = (low, high), (shortest, longest)
        every = np.arange(low, high + 1)
        length = (low + high + shortest + longest) / 2
        square = np.mean((1 - DISCOUNT ** (2 * every)) / (1 - DISCOUNT**2)) / 2 / length
        mean = np.mean((1 - DISCOUNT**every) / (1 - DISCOUNT)) / 2 / length
        self.trivial = float(square - mean**2)

    def source(self, seed: int, inputs: int) -> "Source":  # noqa: ARG002
        return Source(self, seed)

    def trials(self, uniform: Array) -> tuple[Array, ...]:
        """Length, ISI and the number of the pattern."""
        isi, iti = whole(uniform[:, 1], *self.isi), whole(uniform[:, 2], *self.iti)
        return isi + iti, isi, whole(uniform[:, 0], 0, len(PATTERNS) - 1)


class Source:
    def __init__(self, task: Pattern, seed: int) -> None:
        self.longest = task.isi[1]
        self.trials = Trials(seed, "pattern.trials", 3, task.trials)
        self.distractors = streams.stream(seed, "pattern.distractors")
        order = np.argsort(streams.unit_uniform(seed, "pattern.valid", len(PATTERNS)))
        self.valid = np.isin(np.arange(len(PATTERNS)), order[: len(PATTERNS) // 2])
        self.at = 0

    def take(self, steps: int) -> Stream:
        begin, _, isi, pattern = self.trials.between(self.at, self.at + steps)
        x, y = np.zeros((steps, 12)), np.zeros(steps)
        for bit in range(6):
            place(x[:, bit], begin, PATTERNS[pattern, bit], self.at)
        valid = self.valid[pattern]
        begin, isi = begin[valid], isi[valid]
        place(x[:, 6], begin + isi, 1.0, self.at)
        for u in range(self.longest):
            lasts = u < isi
            place(y, begin[lasts] + u, DISCOUNT ** (isi[lasts] - 1.0 - u), self.at)
        x[:, 7:] = self.distractors.random((steps, 5)) < CHANCE
        self.at += steps
        return Stream(x, y, np.ones(steps, dtype=np.bool_))


make = Pattern
