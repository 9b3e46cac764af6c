"""The axis `task`: what it names is what networks are shown."""

import numpy as np
import pytest

from colrun import tasks
from colrun.experiments import EXPERIMENTS
from colrun.tasks import Stream

SMALL = {"columns": 3, "width": 2, "steps": 5, "inputs": 4, "dtype": "float64", "lateral": "dense"}


@pytest.mark.parametrize("kind", ["alignment", "grouping", "cost"])
def test_networks_are_shown_the_task_of_their_config(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = EXPERIMENTS[kind]
    config = experiment.point(**SMALL, **({"network": "dense-rnn"} if kind == "grouping" else {}))
    seen: list[str] = []

    def stream(name: str, seed: int, steps: int, inputs: int) -> Stream:
        """Of the task `ones` every input is 1, and so is every target."""
        seen.append(name)
        if name != "ones":
            return tasks.stream(name, seed, steps, inputs)
        return Stream(np.ones((steps, inputs)), np.ones(steps), np.ones(steps, dtype=np.bool_))

    monkeypatch.setattr("colrun.testbed.stream", stream)
    monkeypatch.setattr("colrun.engine.batch.stream", stream)
    rows = []
    for task in ("random", "ones"):
        other = experiment.config(**{**vars(config), "task": task})
        rows += experiment.run([(other, 0)], ["master-user-groups"])[other, 0]
        assert set(seen) == {task}
        seen.clear()
    if kind != "cost":  # targets within 50 against targets of 1
        assert rows[1]["max_error"] < 2 < rows[0]["max_error"]
