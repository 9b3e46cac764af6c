"""Networks on which every estimator is checked: all cells, both readings and single switches, all kinds of sparsity."""

import itertools
from dataclasses import dataclass

from colrun.api import network
from colrun.networks.base import Gradients
from colrun.networks.cells import CELLS
from colrun.networks.columnar import ColumnarNetwork
from colrun.testbed import Sequence, sequence
from tests import oracle

SETTINGS: dict[str, dict[str, bool | str]] = {
    "text": {},
    "release": {"reading": "release"},
    "init": {"init": "pytorch"},
    "own_state": {"own_state": False},
    "state_bias": {"state_bias": True, "init": "pytorch"},
    "mask_own_recurrence": {"mask_own_recurrence": True},
    "mask_recurrence": {"mask_recurrence": False},
}
LEVELS: list[float | str] = [0.0, "50%", "dense"]
STEP_SIZES = [None, 1e-2]
Shape = tuple[int, int, int, int]
SHAPES: list[Shape] = [(3, 2, 4, 7), (5, 3, 2, 6), (2, 4, 3, 5)]  # columns, width, inputs, steps
# One column, which has one level; one step; both.
EDGES: dict[Shape, list[float | str]] = {(1, 3, 2, 6): [0.0], (4, 3, 2, 1): LEVELS, (1, 1, 1, 1): [0.0]}


@dataclass(frozen=True)
class Case:
    cell: str
    setting: str
    lateral: float | str
    step_size: float | None
    shape: Shape
    seed: int

    def __str__(self) -> str:
        return f"{self.cell}-{self.setting}-s{self.lateral}-α{self.step_size}-{'x'.join(map(str, self.shape))}"

    def build(self) -> tuple[ColumnarNetwork, Sequence, Gradients]:
        """Network, sequence and truth.

        Small networks are often dead: no unit of a layer is open, and a gradient of zeros is met by any estimator that
        does nothing. So this is the first seed from `seed` on whose truth reaches the first layer.
        """
        columns, width, inputs, steps = self.shape
        for seed in range(self.seed, self.seed + 200):
            seq = sequence(seed, steps, inputs)
            net = network(
                seed,
                self.cell,
                columns,
                width,
                self.lateral,
                inputs,
                **SETTINGS[self.setting],  # type: ignore[arg-type]
            )
            truth = oracle.bptt(net, seq, self.step_size)
            if truth["A"].any():
                return net, seq, truth
        raise AssertionError(f"{self}: no seed gives a gradient")


def cases() -> list[Case]:
    found = []
    grid = itertools.product(CELLS, SETTINGS, LEVELS, STEP_SIZES)
    for number, (cell, setting, lateral, step_size) in enumerate(grid):
        # Levels and step sizes repeat every 6 numbers; the shift lets each of them meet every shape.
        shape = SHAPES[(number + number // (len(LEVELS) * len(STEP_SIZES))) % len(SHAPES)]
        found.append(Case(cell, setting, lateral, step_size, shape, seed=number))
    for cell, setting, step_size, (shape, levels) in itertools.product(CELLS, SETTINGS, STEP_SIZES, EDGES.items()):
        found += [Case(cell, setting, lateral, step_size, shape, seed=len(found)) for lateral in levels]
    return found
