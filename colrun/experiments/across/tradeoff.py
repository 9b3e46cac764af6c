"""What an estimator's quality costs: rows of the sweep `estimators` joined with those of the sweep `cost`."""

import pandas as pd

from colrun.experiments import EXPERIMENTS
from colrun.networks.readings import SWITCHES

METRICS = ("alignment", "cosine", "norm_ratio")
COSTS = ("operations", "memory", "seconds", "parameters")
NETWORK = [axis.name for axis in EXPERIMENTS["cost"].axes if axis.name not in (*SWITCHES, "dtype")]
"""Whatever the precision: a cost is that of one."""
JOINED = (*NETWORK, "estimator", "window")


def tradeoff(quality: pd.DataFrame, cost: pd.DataFrame) -> pd.DataFrame:
    """One row per network shape, lateral level and estimator that both frames hold.

    Columns: those of `JOINED`; for each of `METRICS` its mean over networks that did not diverge and `<metric>_sem`;
    `networks`, how many those are, and `diverged`, how many did; each of `COSTS`, means over the networks of `cost`.
    """
    keys = [name for name in JOINED if name in quality and name in cost]
    kept = quality[~quality["diverged"]].groupby(keys, dropna=False)
    means = kept[list(METRICS)].mean()
    errors = kept[list(METRICS)].sem().rename(columns=lambda name: f"{name}_sem")
    networks = kept["seed"].nunique().rename("networks")
    lost = quality.groupby(keys, dropna=False)["diverged"].sum().rename("diverged")
    costs = cost.groupby(keys, dropna=False)[list(COSTS)].mean()
    joined = pd.concat([means, errors, networks], axis=1).reset_index()
    for other in (lost, costs):
        joined = joined.merge(other.reset_index(), on=keys, how="inner")
    return joined.sort_values(keys, ignore_index=True)
