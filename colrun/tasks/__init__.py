"""Tasks: what a network is shown. One file per task; this table imports no torch.

A task is a seeded stream of inputs x(t), targets y*(t) and whether the step is counted: where it is not, the network
runs on, but there is no loss. One seed gives one stream, whoever learns from it and however long it runs. A task's name
carries its numbers: `cue-8-12`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

from colrun.errors import InvalidValueError, choose, shown

if TYPE_CHECKING:
    from colrun.streams import Array


class Stream(NamedTuple):
    """Consecutive steps of a task, in float64."""

    x: "Array"
    """(steps, inputs)"""
    y: "Array"
    """(steps,)"""
    counted: "Array"
    """(steps,) of bools"""


class Source(Protocol):
    """The stream of one seed, from its first step on."""

    def take(self, steps: int) -> Stream:
        """The next steps: in pieces or at once, they are the same."""


class Task(Protocol):
    """What the module of a task makes of the numbers in its name."""

    inputs: int | None
    """How many inputs it has; None where any number will do."""
    trivial: float | None
    """The mean squared error of the best constant prediction; None where there is no such level."""

    def source(self, seed: int, inputs: int) -> Source:
        """The stream of a seed."""


@dataclass(frozen=True)
class TaskEntry:
    """What can be said of a task without importing it."""

    module: str
    summary: str
    numbers: tuple[int, ...] = (0,)
    """How many numbers its name may carry."""
    example: str = ""
    """A name with numbers, where it needs them."""
    learns: bool = True
    """Whether there is anything to learn in it."""
    memory: bool = True
    """Whether it takes memory to solve."""


TASKS: dict[str, TaskEntry] = {
    "random": TaskEntry(
        "random", "the paper's test-bed: fair random bits in, targets uniform in (-50, 50)", learns=False
    ),
    "cue": TaskEntry("cue", "remember a sign for a random number of steps, until it is asked for", (2,), "cue-8-12"),
    "add": TaskEntry("add", "a weighted sum of one bit at two lags", (2,), "add-5-9"),
    "pattern": TaskEntry(
        "pattern", "trace patterning: some patterns announce a later stimulus", (2, 4), "pattern-7-13"
    ),
    "tracking": TaskEntry("tracking", "a linear target of which one sign flips every 20 steps", memory=False),
    "geoff": TaskEntry("geoff", "targets of three random threshold networks, one after the other", memory=False),
}

LARGEST = 1_000_000


def task_names() -> list[str]:
    """Every task by a name that can be used as it is."""
    return [entry.example or name for name, entry in TASKS.items()]


@lru_cache(maxsize=64)
def get_task(name: str) -> Task:
    """The task of that name, with its numbers: `cue-8-12`."""
    family, numbers = split_name(name)
    made: Task = import_module(f"colrun.tasks.{TASKS[family].module}").make(*numbers)
    return made


def split_name(name: str) -> tuple[str, tuple[int, ...]]:
    """A task's family and the numbers in its name, refused where they cannot be right."""
    if not isinstance(name, str):
        raise InvalidValueError(f"task {shown(name)} must be a name, such as {', '.join(task_names())}.")
    found = re.fullmatch(r"([a-z][a-z0-9_]*)((?:-[0-9]{1,9})*)", name, re.ASCII)
    family = found[1] if found else name
    if family not in TASKS:
        choose(name, task_names(), "task")
    entry = TASKS[family]
    assert found is not None
    numbers = tuple(int(text) for text in found[2].split("-")[1:])
    if len(numbers) not in entry.numbers:
        wanted = " or ".join(map(str, entry.numbers)) if entry.example else "no"
        raise InvalidValueError(
            f"task {shown(name)} has {len(numbers)} number(s) in its name; {family} takes {wanted}, as in "
            f"{entry.example or family}."
        )
    if any(not 1 <= number <= LARGEST for number in numbers):
        raise InvalidValueError(f"task {shown(name)}: its numbers must be from 1 to {LARGEST}, as in {entry.example}.")
    return family, numbers


def stream(name: str, seed: int, steps: int, inputs: int) -> Stream:
    """The first steps of a task; `inputs` is how many the network has."""
    task = get_task(name)
    if task.inputs is not None and task.inputs != inputs:
        raise InvalidValueError(f"task {name} has {task.inputs} inputs, and the network takes {inputs}.")
    return task.source(seed, inputs).take(steps)


def in_order(name: str, low: int, high: int) -> None:
    """Refuse a range that ends before it begins."""
    if low > high:
        raise InvalidValueError(f"task {name}: {low} is above {high}; a range is written as {name}-{high}-{low}.")
