"""The kept results are those of this code: a random sample of their jobs is computed again."""

import json
import random
import secrets
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import colrun
from colrun.experiments import get_experiment
from colrun.figures import known_figures
from colrun.store.provenance import cpu_model
from tests.runs import colrun as command

KEPT = Path(__file__).parents[1] / "results" / "paper"
SWEEPS = sorted(path.name for path in KEPT.iterdir() if path.is_dir())
SAMPLE = 4
METRICS = ("alignment", "cosine", "norm_ratio", "mae", "mean_abs_truth", "max_error")


def computed(frame: pd.DataFrame, job: pd.Series) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The kept rows of one job, and the same computed now."""
    experiment = get_experiment(str(job["experiment"]))
    kept = frame[frame["job"] == job["job"]]
    first = job[[axis.name for axis in experiment.axes]].to_dict()
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in first.items()}
    config = experiment.config(**{str(name): None if pd.isna(value) else value for name, value in plain.items()})
    key = list(experiment.key)
    names = [""]
    if experiment.takes_estimators:
        pairs = zip(kept["estimator"], kept["window"], strict=True)
        names = [name if pd.isna(window) else f"{name}-{window:.0f}" for name, window in pairs]
    (rows,) = experiment.run([(config, int(job["seed"]))], names).values()
    return kept.set_index(key).sort_index(), pd.DataFrame(rows).set_index(key).sort_index()


@pytest.mark.parametrize("sweep", SWEEPS)
def test_a_random_sample_is_computed_again(sweep: str) -> None:
    """Closely on a CPU of the name that computed them, on others within what docs/numerics.md states."""
    frame = colrun.load(KEPT / sweep)
    seed = secrets.randbits(32)
    print(f"sample {seed}")
    same = all(json.loads(path.read_text())["cpu"] == cpu_model() for path in (KEPT / sweep / "_runs").iterdir())
    bound = 5e-4 if same else 0.005  # one name may stand for several generations of a processor
    jobs = frame.drop_duplicates("job")
    if "columns" in jobs:
        jobs = jobs[jobs["columns"] * jobs["width"] <= 1000]  # the largest take long, and run the same code
    choice = random.Random(seed).sample(range(len(jobs)), 1 if sweep == "cost" else SAMPLE)
    for number in choice:
        kept, now = computed(frame, jobs.iloc[number])
        assert len(kept) == len(now)
        if sweep == "cost":
            assert (kept["operations"].to_numpy() == now["operations"].to_numpy(dtype=np.float32)).all()
            continue
        assert (kept["diverged"].to_numpy() == now["diverged"].to_numpy()).all()
        if kept["diverged"].any():
            continue  # numbers that grew without bound agree in nothing but that
        for metric in ("value",) if sweep == "state-decay" else METRICS:
            was, is_now = (rows[metric].to_numpy(dtype=float) for rows in (kept, now))
            error = np.abs(was - is_now) / np.maximum(1.0, np.abs(was))
            assert np.nanmax(error, initial=0.0) < bound, (metric, jobs.iloc[number]["job"])


def test_they_are_whole_and_say_where_they_come_from() -> None:
    for sweep in SWEEPS:
        frame = colrun.load(KEPT / sweep)
        experiment = get_experiment(frame["experiment"].iloc[0])
        assert set(frame["numerics"]) == {experiment.numerics}, sweep
        runs = [json.loads(path.read_text()) for path in (KEPT / sweep / "_runs").iterdir()]
        assert all(run["clean"] and run["commit"] for run in runs)
        assert not frame.duplicated(["job", *experiment.key]).any()
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < 50_000_000


def test_every_figure_is_drawn_from_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a fresh clone, before anything has been run; the grids at the smallest size of file."""
    monkeypatch.chdir(tmp_path)
    result = command("plot", "--out", "figures")
    assert result.exit_code == 0, result.output
    drawn = {path.stem for path in Path("figures").iterdir()}
    assert drawn == set(known_figures()) - {"demo", "learning"}
