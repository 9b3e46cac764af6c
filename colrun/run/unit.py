"""One unit of work, from configs to a published part. Every backend ends here, so every backend gives the same rows."""

import time
import traceback
from dataclasses import dataclass, field, replace
from typing import Any

from colrun.estimators import is_plugin
from colrun.experiments import EXPERIMENTS, Experiment, Row
from colrun.run.apart import ApartError, call_apart, limited
from colrun.store.index import Watch
from colrun.store.paths import Paths, write_json
from colrun.store.publish import Published, publish_rows
from colrun.sweep.plan import Job, Piece, Unit, calls

EARLY_SECONDS = 1.0
"""A unit of more work than this is not waited for, if it is the first that a process does for a run."""
_shown: set[str] = set()
"""Runs of which this process has done something."""


@dataclass
class Outcome:
    """What became of a unit."""

    jobs: int = 0
    """Jobs of the unit, whoever did them."""
    elsewhere: int = 0
    """Of these, done by another process in the meantime."""
    twice: int = 0
    """Of those, computed here as well, and thrown away."""
    diverged: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """Work measured here."""
    estimated: float = 0.0
    """What the cost model says of the jobs done here."""


def run_unit(unit: Unit, paths: Paths, sweep: str, run: str, watch: Watch, fail_fast: bool = False) -> Outcome:
    """Do what is missing of a unit and publish it as one part; `fail_fast` leaves the rest after a failure."""
    experiment = EXPERIMENTS[unit.experiment]
    outcome = Outcome(jobs=unit.jobs)
    left = unit.left(watch.refresh().missing)
    outcome.elsewhere = unit.jobs - left.jobs
    published = Published()
    began = started = time.process_time()
    rows: dict[Job, list[Row]] = {}
    for jobs in calls(experiment, left):
        if fail_fast and outcome.failed:
            outcome.jobs -= len(jobs)
            continue
        rows |= _run_call(experiment, jobs, outcome, paths, run, fail_fast)
        if run not in _shown and rows and left.seconds > EARLY_SECONDS:
            # so that there is something to see, and to keep, soon after a sweep has begun
            published += publish_rows(watch, experiment, sweep, run, rows, time.process_time() - started)
            started, rows = time.process_time(), {}
        _shown.add(run)
    outcome.seconds = time.process_time() - began
    outcome.estimated = left.seconds
    published += publish_rows(watch, experiment, sweep, run, rows, time.process_time() - started)
    outcome.twice, outcome.diverged = published.elsewhere, published.diverged
    outcome.elsewhere += published.elsewhere
    return outcome


def _run_call(
    experiment: Experiment[Any], jobs: list[Job], outcome: Outcome, paths: Paths, run: str, fail_fast: bool
) -> dict[Job, list[Row]]:
    """The rows of each job. If a call fails, its jobs run one by one, so that only those that fail are lost."""
    try:
        return compute(experiment, jobs)
    except (Exception, SystemExit) as error:  # whatever a job raises is its own failure, not the sweep's
        if len(jobs) == 1:
            return _run_apart(experiment, *jobs[0], outcome, paths, run, error)
    rows: dict[Job, list[Row]] = {}
    for number, job in enumerate(jobs):
        rows |= _run_call(experiment, [job], outcome, paths, run, fail_fast)
        if fail_fast and outcome.failed:
            outcome.jobs -= len(jobs) - number - 1
            break
    return rows


def _run_apart(
    experiment: Experiment[Any], piece: Piece, seed: int, outcome: Outcome, paths: Paths, run: str, error: BaseException
) -> dict[Job, list[Row]]:
    """A job that failed, estimator by estimator: what the others give is kept."""
    rows: list[Row] = []
    good, bad = [], []
    for name in piece.estimators if len(piece.estimators) > 1 else ():
        try:
            ((_, found),) = compute(experiment, [(replace(piece, estimators=(name,)), seed)]).items()
        except (Exception, SystemExit) as own:
            bad.append(name)
            error = own
        else:
            good.append(name)
            rows += found
    if bad or not good:
        failing = replace(piece, estimators=tuple(bad) or piece.estimators)
        record_failure(paths, experiment, failing, seed, error, run)
        outcome.failed.append(f"{piece.id}.{seed}")
    return {(replace(piece, estimators=tuple(good)), seed): rows} if good else {}


def compute(experiment: Experiment[Any], jobs: list[Job]) -> dict[Job, list[Row]]:
    """Jobs of one call, which want the same estimators: their rows, with all parameters.

    Each plug-in has a call and a process of its own, so that nothing it does reaches the rows of others.
    """
    found: dict[Job, list[Row]] = {job: [] for job in jobs}
    points = [(piece.config, seed) for piece, seed in jobs]
    for whose, keys in _by_origin(jobs[0][0].estimators).items():
        asked = experiment.name, points, keys
        rows = call_apart(whose, _call, asked, len(jobs)) if whose or limited() else _call(asked)
        for piece, seed in jobs:
            found[piece, seed] += [
                experiment.as_dict(piece.config) | {"seed": seed, "job": f"{piece.id}.{seed}"} | row
                for row in rows[piece.config, seed]
            ]
    return found


def _call(asked: tuple[str, list[tuple[Any, int]], list[str]]) -> Any:
    kind, points, keys = asked
    return EXPERIMENTS[kind].run(points, keys)


def _by_origin(estimators: tuple[str, ...]) -> dict[str, list[str]]:
    """colrun's own ("") and those of each plug-in; one call without any where an experiment takes none."""
    found: dict[str, list[str]] = {}
    for key in estimators:
        found.setdefault(key.partition("@")[2] if is_plugin(key) else "", []).append(key)
    return found or {"": []}


def record_failure(
    paths: Paths, experiment: Experiment[Any], piece: Piece, seed: int, error: BaseException | str, run: str
) -> None:
    """Keep the traceback where `status` and `show` find it."""
    text = error if isinstance(error, str) else "".join(traceback.format_exception(error))
    if isinstance(error, ApartError):
        text = error.trace
    content: dict[str, Any] = {
        "job": f"{piece.id}.{seed}",
        "error": str(error) if isinstance(error, str | ApartError) else f"{type(error).__name__}: {error}",
        "experiment": experiment.name,
        "parameters": experiment.as_dict(piece.config) | {"seed": seed},
        "estimators": list(piece.estimators),
        "run": run,
        "traceback": text,
    }
    write_json(paths, paths.failed / f"{piece.id}.{seed}.json", content)
