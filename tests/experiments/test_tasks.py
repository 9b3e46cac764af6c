"""The axis `task`: what it names is what networks are shown."""

from dataclasses import dataclass

import numpy as np
import pytest

from colrun import tasks
from colrun.experiments import EXPERIMENTS
from colrun.tasks import Stream, Task


@dataclass
class Ones:
    """Every input is 1, and so is every target."""

    def stream(self, seed: int, steps: int, inputs: int) -> Stream:  # noqa: ARG002
        return Stream(np.ones((steps, inputs)), np.ones(steps), np.ones(steps, dtype=np.bool_))


SMALL = {"columns": 3, "width": 2, "steps": 5, "inputs": 4, "dtype": "float64", "lateral": "dense"}


@pytest.mark.parametrize("kind", ["alignment", "grouping", "cost"])
def test_networks_are_shown_the_task_of_their_config(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = EXPERIMENTS[kind]
    config = experiment.point(**SMALL, **({"network": "dense-rnn"} if kind == "grouping" else {}))
    seen: list[str] = []

    def get(name: str) -> Task:
        seen.append(name)
        return Ones() if name == "ones" else tasks.get_task(name)

    monkeypatch.setattr("colrun.testbed.get_task", get)
    monkeypatch.setattr("colrun.engine.batch.get_task", get)
    rows = []
    for task in ("random", "ones"):
        other = experiment.config(**{**vars(config), "task": task})
        rows += experiment.run([(other, 0)], ["master-user-groups"])[other, 0]
        assert set(seen) == {task}
        seen.clear()
    if kind != "cost":  # targets within 50 against targets of 1
        assert rows[1]["max_error"] < 2 < rows[0]["max_error"]
