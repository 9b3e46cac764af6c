"""Identities are results on people's disks: if one changes, every stored result is orphaned."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from colrun.experiments import EXPERIMENTS, get_experiment
from colrun.sweep.file import parse_sweep
from colrun.sweep.plan import entries
from tests.runs import TINY

RECORDED = json.loads((Path(__file__).parent / "kept_ids.json").read_text(encoding="utf-8"))
"""Jobs of every kept sweep as they were computed for version 0.1: parameters and ids."""
KEPT = Path(__file__).parents[2] / "results" / "paper"


def test_jobs_of_every_kept_sweep_are_recorded() -> None:
    assert {each["sweep"] for each in RECORDED} == {path.name for path in KEPT.iterdir() if path.is_dir()}
    assert {each["experiment"] for each in RECORDED} == {"alignment", "decay", "cost", "grouping"}


@pytest.mark.parametrize("each", RECORDED, ids=lambda each: f"{each['sweep']}-{each['job']}")
def test_a_kept_job_has_its_id(each: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """By its parameters alone, and as a point of a grid that gives them."""
    experiment, parameters = get_experiment(each["experiment"]), each["config"]
    experiment = replace(experiment, numerics=each["numerics"])
    monkeypatch.setitem(EXPERIMENTS, experiment.name, experiment)
    assert isinstance(parameters, dict)
    id, _, seed = str(each["job"]).partition(".")
    given = {name: "none" if value is None else value for name, value in parameters.items()}
    grid = given | {"name": "x", "experiment": experiment.name, "seeds": [int(seed)]}
    grid |= {"estimators": ["bptt"]} if experiment.takes_estimators else {}
    (entry,) = entries(parse_sweep(grid, "x", "", {}))
    assert entry.id == id
    later = {axis.name: axis.introduced for axis in experiment.axes if axis.name not in parameters}
    assert experiment.config_id(experiment.config(**parameters, **later)) == id


@pytest.mark.parametrize("kind", ["alignment", "grouping", "cost"])
def test_a_task_enters_the_identity_unless_it_is_the_first(kind: str) -> None:
    experiment = EXPERIMENTS[kind]
    config = experiment.point()
    assert config.task == "random"
    assert "task" not in experiment.canonical(config)
    assert "task='another'" in experiment.canonical(replace(config, task="another"))


def test_what_is_there_from_the_beginning_always_enters() -> None:
    for experiment in EXPERIMENTS.values():
        config = experiment.point()
        for axis in experiment.axes:
            later = axis.name == "task" and experiment.name != "learning"
            assert (f";{axis.name}=" in experiment.canonical(config)) != later


def test_derived_defaults_enter_as_values() -> None:
    said, unsaid = (
        [entry.id for entry in entries(parse_sweep({**TINY, **more}, "x", "", {}))]
        for more in ({"init": "xavier", "own_state": True}, {})
    )
    assert said == unsaid
    assert "init='pytorch';own_state=False" in EXPERIMENTS["alignment"].canonical(
        EXPERIMENTS["alignment"].point(reading="release")
    )
