"""Finding one job among all results."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName
from colrun.experiments import get_experiment
from colrun.store.index import Done, failure_of, failures
from colrun.store.join import ORIGIN
from colrun.store.kept import kept_folders
from colrun.store.known import stored_sweeps
from colrun.store.load import load, visible_parts
from colrun.store.parts import BrokenPartError, read_index
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
    results: Path
    plugins: dict[str, str]
    """Of plug-ins among the estimators, by key, the file or package that a run had them from, where that is known."""


def find_job(results: Path, beginning: str) -> list[Found]:
    """Jobs whose id starts so (or is so, if one is exactly that), in any sweep; else among the kept rows."""
    for place in (results, *kept_folders()):
        found = []
        for name in stored_sweeps(place):
            matching = [job for job in jobs_in(place, name) if job.startswith(beginning)]
            if beginning in matching:
                matching = [beginning]
            found += [_found(place, name, job) for job in matching[:6]]
        if found:
            return [entry for entry in found if entry.job == beginning] or found
    return []


def jobs_in(results: Path, name: str) -> list[str]:
    """Ids of all jobs of a sweep that are done or failed."""
    paths, done = Paths.of(results, name), Done()
    for part in visible_parts(paths.sweep):
        with suppress(BrokenPartError, FileNotFoundError):
            done.add(read_index(part))
    return sorted({f"{config}.{seed}" for config, seeds in done.jobs.items() for seed in seeds} | set(failures(paths)))


def _found(results: Path, name: str, job: str) -> Found:
    paths = Paths.of(results, name)
    failure = failure_of(paths, job)
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
    shown = frame[[column for column in frame.columns if column not in constant]].dropna(axis="columns", how="all")
    text = shown.to_string(index=False) if len(shown) else ""
    trace = failure["traceback"] if failure else ""
    return Found(name, job, parameters, estimators, text, trace, results, _plugins(paths, estimators))


def _plugins(paths: Paths, estimators: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(paths.runs.glob("*.json")):
        with suppress(OSError, ValueError, AttributeError):
            found |= json.loads(path.read_text(encoding="utf-8")).get("plugins", {})
    return {key: str(found[key]).removeprefix("plug-in ") for key in estimators if key in found}


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
