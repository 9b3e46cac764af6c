"""Tasks: what a network is shown. One file per task; this table imports no torch.

A task is a seeded stream of inputs x(t), targets y*(t) and whether the step is counted: where it is not, the network
runs on, but there is no loss. One seed gives one stream, whoever learns from it and however long it runs.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from colrun.errors import choose

if TYPE_CHECKING:
    from colrun.streams import Array


class Stream(NamedTuple):
    """The first steps of a task, in float64."""

    x: "Array"
    """(steps, inputs)"""
    y: "Array"
    """(steps,)"""
    counted: "Array"
    """(steps,) of bools"""


class Task(Protocol):
    """What the module of a task offers as `TASK`."""

    def stream(self, seed: int, steps: int, inputs: int) -> Stream:
        """What a network of that seed is shown, from the first step on."""


@dataclass(frozen=True)
class TaskEntry:
    """What can be said of a task without importing it."""

    module: str
    summary: str


TASKS: dict[str, TaskEntry] = {
    "random": TaskEntry("random", "the paper's test-bed: fair random bits in, targets uniform in (-50, 50)"),
}


def get_task(name: str) -> Task:
    """The task of that name."""
    return cast(Task, import_module(f"colrun.tasks.{TASKS[choose(name, TASKS, 'task')].module}").TASK)
