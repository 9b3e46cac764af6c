"""What a run came to, and which step size is reported: in one place for figures, tables and claims.

    final error    mean of the last 10 bins; +∞ in medians where the run diverged
    half-time      the end of the first bin below half the task's trivial level; null if there is none
    solved         final error below a tenth of the trivial level

The step size of θ is chosen on seeds 0:10, per task, network and learner: the lowest median final error among those of
which no run diverged. It is reported on the seeds from 10 on.
"""

import math

import numpy as np
import pandas as pd

from colrun.tasks import get_task

CHOOSING = 10
"""Seeds below are those that choose."""
LAST = 10
"""Bins."""
SOLVED = 0.1
LEARNER = ["estimator", "window", "meta", "optimiser"]
NETWORK = ["task", "reading", "cell", "columns", "width", "lateral", "steps", "dtype"]


def runs(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per run, from one per bin."""
    keys = [*NETWORK, *LEARNER, "theta_step_size", "step_size", "seed"]
    rows = rows.sort_values("step", kind="stable")
    bins = rows.groupby(keys, dropna=False, sort=False)
    last = rows.loc[bins.cumcount(ascending=False) < LAST].groupby(keys, dropna=False, sort=False)["mse"].mean()
    found = pd.DataFrame({"final": last, "diverged": bins["diverged"].any()}).reset_index()
    found["trivial"] = found["task"].map({name: get_task(name).trivial for name in found["task"].unique()})
    found["final"] = found["final"].mask(found["diverged"], math.inf)
    found["solved"] = (found["final"] < SOLVED * found["trivial"]).where(found["trivial"].notna())
    below = rows[rows["mse"] < rows["task"].map(lambda name: 0.5 * (get_task(name).trivial or math.nan))]
    half = below.groupby(keys, dropna=False, sort=False)["step"].min().rename("half_time")
    return found.merge(half.reset_index(), on=keys, how="left")


def chosen(found: pd.DataFrame, choosing: int = CHOOSING) -> pd.DataFrame:
    """Per task, network and learner the chosen η and whether it is at the edge of those tried; none if all diverged."""
    by = [*NETWORK, *LEARNER]
    scores = (
        found[found["seed"] < choosing]
        .groupby([*by, "theta_step_size"], dropna=False)
        .agg(median=("final", "median"), diverged=("diverged", "any"))
        .reset_index()
    )
    rows = []
    for key, tried in scores.groupby(by, dropna=False):
        kept = tried[~tried["diverged"]]
        if kept.empty:
            continue
        best = kept.sort_values("median", kind="stable").iloc[0]
        tried_sizes = tried["theta_step_size"].dropna()
        edge = len(tried_sizes) > 1 and best["theta_step_size"] in (tried_sizes.min(), tried_sizes.max())
        rows.append((*key, best["theta_step_size"], edge))
    return pd.DataFrame(rows, columns=[*by, "theta_step_size", "edge"])


def reported(found: pd.DataFrame, choosing: int = CHOOSING) -> pd.DataFrame:
    """The runs that are reported: of the chosen step sizes, with the seeds that did not choose."""
    best = chosen(found, choosing)
    held = found[found["seed"] >= choosing]
    return held.merge(best, on=[*NETWORK, *LEARNER, "theta_step_size"])


def interval(values: "pd.Series[float]", draws: int = 1000) -> tuple[float, float]:
    """Of the median, two standard errors wide on either side by bootstrap: 95 %; the same numbers every time."""
    numbers = np.sort(values.to_numpy(float))
    places = np.random.Generator(np.random.PCG64(0)).integers(0, len(numbers), (draws, len(numbers)))
    medians = np.median(numbers[places], axis=1)
    low, high = np.quantile(medians, [0.025, 0.975], method="nearest")
    return float(low), float(high)
