"""Made-up results in the shape of the real ones: the plan's own grid, smooth curves, few seeds."""

import numpy as np
import pandas as pd

from colrun.estimators import parse_estimator
from colrun.figures import FIGURES
from colrun.figures.source import Source
from colrun.figures.style import STYLES
from colrun.sweep.file import Sweep, read_sweep
from colrun.sweep.plan import entries

FEWER: dict[str, dict[str, list[float]]] = {
    "meta-ablation": {"step_size": [1e-2, 1e-4]},
    "rnn-grid": {"columns": [5, 100], "width": [5, 50, 100]},
    "meta-grid": {"columns": [5, 100], "width": [5, 100], "step_size": [1e-1, 1e-3]},
}
"""Panels are alike, so some of them will do."""


def plan(sweep: str, seeds: str = "0:4") -> Sweep:
    return read_sweep(sweep, {"seeds": seeds, **FEWER.get(sweep, {})})


def table(sweep: Sweep) -> pd.DataFrame:
    """Every row that the plan asks for."""
    return {"alignment": _alignment, "decay": _decay}[sweep.experiment.name](sweep)


def _alignment(sweep: Sweep) -> pd.DataFrame:
    rows = []
    for entry in entries(sweep):
        config = sweep.experiment.as_dict(entry.config)
        ratio = float(config["lateral"] or 0)
        for seed in entry.seeds:
            for name in map(parse_estimator, entry.estimators):
                window = name.window
                quality = 1 / (1 + ratio) if window is None else 0.2 + 0.75 * window / (window + 6)
                value = 0.5 + 0.5 * quality * (1 - 0.03 * seed)
                rows.append(
                    {
                        "sweep": sweep.name, "experiment": "alignment", **config, "seed": seed,
                        "estimator": name.family, "window": window, "alignment": value, "cosine": 2 * value - 1,
                        "norm_ratio": 2 - value, "mae": 1.01 - value, "mean_abs_truth": 1.0, "diverged": False,
                        "job": f"{entry.id}.{seed}",
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)


def _decay(sweep: Sweep) -> pd.DataFrame:
    rows = []
    for entry in entries(sweep):
        config = sweep.experiment.as_dict(entry.config)
        for seed in entry.seeds:
            for quantity in ("h", "memory") if config["cell"] == "lstm" else ("h",):
                values = np.maximum(0.6 ** np.arange(21.0), 0.5 / config["hidden"] if config["bias"] else 0.0)  # type: ignore[operator]
                rows += [
                    {"sweep": sweep.name, "experiment": "decay", **config, "seed": seed, "quantity": quantity,
                     "step": step, "value": value, "diverged": False, "job": f"{entry.id}.{seed}"}
                    for step, value in enumerate(values)
                ]  # fmt: skip
    return pd.DataFrame(rows)


def source(figure: str, style: str = "paper", metric: str | None = None, seeds: str = "0:4") -> Source:
    """What a figure is drawn from, complete."""
    entry = FIGURES[figure]
    plans = {sweep: plan(sweep, seeds) for sweep in entry.needs}
    chosen = metric or (entry.metrics[0] if entry.metrics else "")
    return Source({name: table(each) for name, each in plans.items()}, dict(plans), STYLES[style], chosen)
