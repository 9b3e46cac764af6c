"""Experiment `learning`: seeds and step sizes side by side as lanes, or one by one where an estimator has no kernel."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from colrun.estimators import EstimatorName, parse_estimator
from colrun.experiments.declare import Row
from colrun.experiments.learning import LearningConfig
from colrun.lanes.learners import LEARNERS
from colrun.lanes.run import Lanes
from colrun.lanes.vectors import LANES
from colrun.learning.bins import BINS, ends, pieces
from colrun.streams import Array
from colrun.tasks import get_task

Job = tuple[LearningConfig, int]


class Curve(NamedTuple):
    """One run."""

    errors: Array
    """Σ δ² of every bin, and of how many steps"""
    counts: Array
    ended: int | None
    """The step, counted from 1, at which it diverged."""


def run_together(jobs: list[Job], estimators: list[str]) -> dict[Job, list[Row]]:
    """Jobs that differ in seed and step size of θ alone."""
    rows: dict[Job, list[Row]] = {job: [] for job in jobs}
    for name in map(parse_estimator, estimators):
        for job, curve in curves(jobs, name).items():
            rows[job] += rows_of(name, curve, job[0].steps)
    return rows


def curves(jobs: list[Job], name: EstimatorName) -> dict[Job, Curve]:
    if name.family not in LEARNERS:
        from colrun.experiments.learning.stepwise import curve

        return {job: curve(*job, name) for job in jobs}
    found: dict[Job, Curve] = {}
    in_order = sorted(jobs, key=lambda job: (job[1], job[0].theta_step_size or 0.0))
    for first in range(0, len(jobs), LANES):
        found |= in_lanes(in_order[first : first + LANES], name)
    return found


def in_lanes(jobs: list[Job], name: EstimatorName) -> dict[Job, Curve]:
    """At most as many as one group of lanes holds, so that memory is bounded."""
    config, seeds = jobs[0][0], [seed for _, seed in jobs]
    lanes = Lanes(
        config.architecture, str(name), seeds, [each.theta_step_size or 0.0 for each, _ in jobs],
        optimiser=config.optimiser, meta=config.meta, alpha=config.step_size, readout_bias=config.readout_bias,
        dtype=config.dtype,
    )  # fmt: skip
    task = get_task(config.task)
    sources = [task.source(seed, config.inputs) for seed in lanes.distinct]
    errors, counts = np.zeros((BINS, len(jobs))), np.zeros((BINS, len(jobs)))
    for number, (begin, end) in enumerate(pairwise([0, *ends(config.steps)])):
        for size in pieces(begin, end):
            given = [source.take(size) for source in sources]
            sums = lanes.run(*(np.stack(part, axis=-1) for part in zip(*given, strict=True)))
            errors[number] += sums.errors
            counts[number] += sums.counts
    ended = [None if at < 0 else int(at) + 1 for at in lanes.ended]
    return {job: Curve(errors[:, n], counts[:, n], ended[n]) for n, job in enumerate(jobs)}


def rows_of(name: EstimatorName, curve: Curve, steps: int) -> list[Row]:
    """One row per bin; nothing is known of the bin in which a run diverged, nor of those after it."""
    rows = []
    for number, (begin, end) in enumerate(pairwise([0, *ends(steps)])):
        over = curve.ended is not None and curve.ended <= end
        count = curve.counts[number]
        if end > begin:
            rows.append({
                **name.columns, "step": end, "mse": None if over or not count else float(curve.errors[number] / count),
                "diverged": curve.ended is not None, "diverged_at": curve.ended,
            })  # fmt: skip
    return rows
