"""Experiment `learning`: its jobs, what is refused, and what its rows come to."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import colrun
from colrun.errors import InvalidValueError
from colrun.experiments import get_experiment
from colrun.experiments.learning import outcome
from colrun.experiments.learning.job import run_together
from tests.runs import colrun as command

LEARNING = get_experiment("learning")
SWEEP = """name = "small"
experiment = "learning"
estimators = ["tbptt-2", "tbptt-4", "frozen"]
seeds = "0:3"
steps = 250
columns = 3
task = "add-1-3"
theta_step_size = ["none", 1e-3, 1e-2]
"""


def test_rows_are_those_of_a_learner_in_python() -> None:
    config = LEARNING.point(
        task="add-1-3", steps=130, columns=3, dtype="float64", theta_step_size=1e-2, lateral="dense"
    )
    assert (config.inputs, config.step_size) == (2, 0.05)
    rows = run_together([(config, 5)], ["tbptt-2"])[config, 5]
    net = colrun.network(5, "mgu", 3, 0, "dense", 2, "practical")
    curve = colrun.learner(net, "tbptt-2", theta_step_size=1e-2).run("add-1-3", 130)
    assert [row["step"] for row in rows] == sorted(set(curve["step"]))
    np.testing.assert_allclose(
        [row["mse"] or np.nan for row in rows], curve.drop_duplicates("step", keep="last")["mse"]
    )
    assert rows[0]["mse"] is None  # the first steps are not counted
    assert not any(row["diverged"] for row in rows)


def test_a_run_does_not_depend_on_those_beside_it() -> None:
    """Neither on their number: a group is filled up to its full width."""
    configs = [LEARNING.point(task="add-1-3", steps=100, columns=3, theta_step_size=eta) for eta in (1e-3, 3e-3, 1e-2)]
    jobs = [(config, seed) for config in configs for seed in range(7)]
    together = run_together(jobs, ["tbptt-2"])
    for job in (jobs[0], jobs[11], jobs[-1]):
        assert run_together([job], ["tbptt-2"])[job] == together[job]


def test_a_sweep_from_file_to_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SWEEP)
    assert command("sweep", "small.toml", "-j", "1").exit_code == 0
    frame = colrun.load(tmp_path / "results" / "small")
    assert len(frame) == 100 * 3 * (2 * 2 + 1)
    assert frame[frame["estimator"] == "frozen"]["theta_step_size"].isna().all()
    assert "9 done before, 0 computed" in command("sweep", "small.toml", "-j", "1").output
    assert command("plot", "small.toml", "--out", "drawn").exit_code == 0
    assert (tmp_path / "drawn" / "small.png").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"task": "cue-8"}, "has 1 number(s) in its name; cue takes 2, as in cue-8-12"),
        ({"task": "cue-9-3"}, "9 is above 3"),
        ({"task": "random"}, "there is nothing to learn in task random"),
        ({"cell": "additive"}, "grows without bound, so it learns for at most 1000 steps, not 100000"),
        ({"cell": "feedforward"}, "the feedforward cell has no memory, and task cue-8-12 needs one"),
        ({"inputs": 7}, "task cue-8-12 has 4 inputs, not 7"),
        ({"mask_recurrence": False}, "mask_recurrence = no keeps every R"),
        ({"width": -1}, "width is -1; it must be a whole number from 0"),
    ],
)
def test_what_cannot_be_learned_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        LEARNING.point(**given)
    assert said in str(error.value)


def test_estimators_that_cannot_learn_are_refused() -> None:
    config = LEARNING.point()
    for name, said in (("bptt", "bptt cannot learn online"), ("master-user-no-meta", "master-user with meta = false")):
        with pytest.raises(InvalidValueError, match=said):
            LEARNING.undefined(config, name)
    assert LEARNING.undefined(config, "rflo") is None
    assert LEARNING.undefined(LEARNING.point(cell="feedforward", task="geoff"), "rflo") is not None


def made_up(final: dict[tuple[float, int], float], task: str = "cue-8-12") -> pd.DataFrame:
    """Runs by step size and seed that end at these errors; one below 0 diverged half way."""
    rows = []
    for (eta, seed), error in final.items():
        for step in range(1, 101):
            over = error < 0 and step > 50
            rows.append({
                "task": task, "reading": "practical", "cell": "mgu", "columns": 10, "width": 0, "lateral": 0.0,
                "steps": 100, "dtype": "float32", "step_size": 0.01, "estimator": "tbptt", "window": 5, "meta": False,
                "optimiser": "rmsprop", "theta_step_size": eta, "seed": seed, "step": step,
                "mse": None if over else 0.07 if step <= 80 else abs(error), "diverged": error < 0,
            })  # fmt: skip
    return pd.DataFrame(rows).astype({"mse": float})


def test_outcomes() -> None:
    found = outcome.runs(made_up({(1e-3, 0): 0.001, (1e-3, 1): 0.05, (1e-2, 0): -0.001})).set_index(
        ["theta_step_size", "seed"]
    )
    assert found["final"].to_dict() == {(1e-3, 0): 0.001, (1e-3, 1): 0.05, (1e-2, 0): math.inf}
    assert found["solved"].tolist() == [True, False, False]
    assert found.loc[(1e-3, 0), "half_time"] == 81
    assert math.isnan(found.loc[(1e-3, 1), "half_time"])


def test_the_step_size_is_chosen_on_some_seeds_and_reported_on_others() -> None:
    """The best among those that never diverged, by the median; later seeds have no say."""
    final = {(eta, seed): error for eta, error in ((1e-4, 0.06), (1e-3, 0.01), (1e-2, 0.02)) for seed in range(12)}
    final |= {(3e-2, seed): 0.001 if seed else -0.001 for seed in range(12)}
    final |= {(1e-2, seed): 1e-6 for seed in (10, 11)}
    found = outcome.runs(made_up(final))
    best = outcome.chosen(found)
    assert best["theta_step_size"].tolist() == [1e-3]
    assert not best["edge"].any()
    kept = outcome.reported(found)
    assert sorted(kept["seed"]) == [10, 11]
    assert set(kept["final"]) == {0.01}
    only = outcome.chosen(outcome.runs(made_up({key: error for key, error in final.items() if key[0] >= 1e-2})))
    assert only["edge"].all()
    assert outcome.chosen(outcome.runs(made_up({(1e-3, 0): -1.0}))).empty
