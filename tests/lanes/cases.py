"""Learners and settings that the tests of lanes run over."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from colrun.lanes.run import Lanes, Sums
from colrun.networks.architecture import Architecture
from colrun.streams import Array
from colrun.tasks import Stream, stream

LEARNERS = [
    "rtrl", "tbptt-1", "tbptt-3", "tbptt-12", "tbptt-replay-3", "tbptt-block-4", "master-user", "master-user-groups",
    "elman", "rflo", "rflo-symmetric", "snap-1", "snap-2", "uoro", "nobacktrack", "kf-rtrl", "frozen",
]  # fmt: skip
AXES: dict[str, list[object]] = {
    "learner": list(LEARNERS),
    "cell": ["mgu", "gru", "lstm"],
    "lateral": [0.0, 0.6, "dense"],
    "optimiser": ["sgd", "rmsprop", "adam"],
    "meta": [False, True],
    "width": [0, 5],
}
TASK = "add-5-9"


def pairwise() -> Iterator[tuple[object, ...]]:
    """Few settings in which every pair of values of two axes occurs."""
    axes = list(AXES.values())
    open_pairs = {
        (a, i, b, j)
        for a, b in combinations(range(len(axes)), 2)
        for i in range(len(axes[a]))
        for j in range(len(axes[b]))
    }
    every = list(product(*(range(len(values)) for values in axes)))

    def covered(setting: tuple[int, ...]) -> set[tuple[int, int, int, int]]:
        return {(a, setting[a], b, setting[b]) for a, b in combinations(range(len(axes)), 2)} & open_pairs

    while open_pairs:
        best = max(every, key=lambda setting: len(covered(setting)))
        open_pairs -= covered(best)
        yield tuple(axes[n][value] for n, value in enumerate(best))


def architecture(
    cell: str = "mgu", columns: int = 4, width: int = 0, lateral: float | str = "dense", inputs: int = 2
) -> Architecture:
    return Architecture.of(cell, columns, width, lateral, inputs, "practical")


def given(seeds: list[int], steps: int, task: str = TASK, inputs: int = 2) -> list[Stream]:
    return [stream(task, seed, steps, inputs) for seed in seeds]


def stacked(streams: list[Stream]) -> tuple[Array, Array, Array]:
    x, y, counted = (np.stack([getattr(each, part) for each in streams], axis=-1) for part in ("x", "y", "counted"))
    return x, y, counted


def run(lanes: Lanes, streams: list[Stream], begin: int = 0, end: int | None = None) -> Sums:
    x, y, counted = stacked(streams)
    return lanes.run(x[begin:end], y[begin:end], counted[begin:end])


def flat(named: dict[str, Array]) -> Array:
    return np.concatenate([value.reshape(-1) for value in named.values()])
