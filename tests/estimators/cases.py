"""Networks on which every estimator is checked: all cells, both readings and single switches, all kinds of sparsity."""

import itertools
from dataclasses import dataclass

from colrun.api import network
from colrun.networks.cells import CELLS
from colrun.networks.columnar import ColumnarNetwork
from colrun.testbed import Sequence, sequence

SETTINGS: dict[str, dict[str, bool | str]] = {
    "text": {},
    "release": {"reading": "release"},
    "init": {"init": "pytorch"},
    "own_state": {"own_state": False},
    "state_bias": {"state_bias": True, "init": "pytorch"},
    "mask_own_recurrence": {"mask_own_recurrence": True},
    "mask_recurrence": {"mask_recurrence": False},
}
SHAPES = [(3, 2, 4, 7), (5, 3, 2, 6), (2, 4, 3, 5)]  # columns, width, inputs, steps
EDGES = [(1, 3, 2, 6), (4, 3, 2, 1), (1, 1, 1, 1)]  # one column, one step, both


@dataclass(frozen=True)
class Case:
    cell: str
    setting: str
    lateral: float | str
    step_size: float | None
    shape: tuple[int, int, int, int]
    seed: int

    def __str__(self) -> str:
        return f"{self.cell}-{self.setting}-s{self.lateral}-α{self.step_size}-{'x'.join(map(str, self.shape))}"

    def build(self) -> tuple[ColumnarNetwork, Sequence]:
        columns, width, inputs, steps = self.shape
        net = network(
            self.seed,
            self.cell,
            columns,
            width,
            self.lateral,
            inputs,
            **SETTINGS[self.setting],  # type: ignore[arg-type]
        )
        return net, sequence(self.seed, steps, inputs)


def cases() -> list[Case]:
    found = []
    levels: list[float | str] = [0.0, "50%", "dense"]
    grid = itertools.product(CELLS, SETTINGS, levels, [None, 1e-2])
    for number, (cell, setting, lateral, step_size) in enumerate(grid):
        found.append(Case(cell, setting, lateral, step_size, SHAPES[number % len(SHAPES)], seed=number))
    for cell, setting, step_size, shape in itertools.product(CELLS, ["text", "release"], [None, 1e-2], EDGES):
        found.append(Case(cell, setting, "dense", step_size, shape, seed=len(found)))
    return found
