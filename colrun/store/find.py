"""Finding one job among all results."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName
from colrun.experiments import get_experiment
from colrun.store.index import failures, read_done
from colrun.store.join import ORIGIN
from colrun.store.known import stored_sweeps
from colrun.store.load import load
from colrun.store.paths import Paths


@dataclass(frozen=True)
class Found:
    """A job in one sweep's folder; its estimators by key."""

    sweep: str
    job: str
    parameters: dict[str, Any]
    estimators: list[str]
    rows: str
    failure: str


def find_job(results: Path, beginning: str) -> list[Found]:
    """Jobs whose id starts so (or is so, if one is exactly that), in any sweep."""
    found = []
    for name in stored_sweeps(results):
        paths = Paths.of(results, name)
        jobs = {f"{config}.{seed}" for config, seeds in read_done(paths).jobs.items() for seed in seeds}
        failed = failures(paths)
        matching = [job for job in sorted(jobs | set(failed)) if job.startswith(beginning)]
        if beginning in matching:
            matching = [beginning]
        found += [_found(paths, name, job, failed.get(job)) for job in matching[:6]]
    exact = [entry for entry in found if entry.job == beginning]
    return exact or found


def _found(paths: Paths, name: str, job: str, failure: dict[str, Any] | None) -> Found:
    frame = load(paths.sweep)
    frame = frame[frame["job"] == job] if len(frame) else frame
    if not failure and not len(frame):
        raise InvalidValueError(f"the rows of job {job} are in a part that is broken; run: colrun sweep {name}")
    if failure:
        parameters, estimators = failure["parameters"], failure["estimators"]
    else:
        axes = [axis.name for axis in get_experiment(frame["experiment"].iloc[0]).axes]
        first = frame[[*axes, "seed"]].to_dict("records")[0]
        parameters = {str(name): None if pd.isna(value) else value for name, value in first.items()}
        estimators = _estimators(frame)
    constant = {"sweep", "experiment", "job", "numerics", *parameters}
    shown = frame[[column for column in frame.columns if column not in constant]]
    text = shown.to_string(index=False) if len(shown) else ""
    return Found(name, job, parameters, estimators, text, failure["traceback"] if failure else "")


def _estimators(frame: pd.DataFrame) -> list[str]:
    if "estimator" not in frame:
        return []
    rows = zip(*(frame[name] for name in ("estimator", "window", *ORIGIN)), strict=True)
    keys = (
        EstimatorName(
            family, None if pd.isna(window) else int(window), None if pd.isna(plugin) else plugin, int(numerics)
        ).key
        for family, window, plugin, numerics in rows
    )
    return list(dict.fromkeys(keys))
