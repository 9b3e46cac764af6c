"""Made-up results in the shape of the real ones: the plan's own grid, smooth curves, few seeds."""

import itertools

import numpy as np
import pandas as pd

from colrun.drawing.source import Source
from colrun.drawing.style import STYLES
from colrun.estimators import parse_estimator
from colrun.figures import known_figures
from colrun.figures.make import axes_of, plan_of
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


FAMILIES = [("master-user", None), ("master-user-groups", None), ("snap", 2), ("uoro", None), ("nobacktrack", None),
            ("kf-rtrl", None), ("rflo", None), ("elman", None), ("rtrl", None), ("bptt", None), ("tbptt", 1),
            ("tbptt", 5), ("tbptt", 40), ("tbptt-block", 5), ("my-own", None)]  # fmt: skip
"""Every estimator there is or will be, and one of somebody else."""


def everything(seeds: int = 2) -> pd.DataFrame:
    """Rows of `estimators`: all families on two cells."""
    rows = []
    for cell, ratio, seed in itertools.product(["additive", "gru"], [0.0, 0.01, 0.1, 1.0, 19.0], range(seeds)):
        for place, (family, window) in enumerate(FAMILIES):
            value = 1 - 0.5 * (place + 1) / len(FAMILIES) * (0.3 + ratio / (1 + ratio)) - 0.002 * seed
            rows.append(_row(cell, ratio, seed, family, window) | {
                "alignment": value, "cosine": 2 * value - 1, "norm_ratio": 3 - 2 * value, "mae": 1 - value,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _row(cell: str, ratio: float, seed: int, family: str, window: int | None) -> dict[str, object]:
    return {
        "reading": "text", "cell": cell, "columns": 20, "width": 50, "lateral": ratio, "step_size": None, "seed": seed,
        "estimator": family, "window": window, "diverged": False, "dtype": "float32", "steps": 50, "inputs": 50,
        "init": "xavier", "own_state": True, "state_bias": False, "mask_own_recurrence": False, "mask_recurrence": True,
        "job": f"{cell}{ratio}.{seed}",
    }  # fmt: skip


def prices() -> pd.DataFrame:
    """Rows of `cost`: the networks of `everything`, and three widths, columns and lengths."""
    shapes: list[dict[str, object]] = [{"cell": c, "lateral": s} for c in ("additive", "gru") for s in (0.01, 0.1, 1.0)]
    shapes += [{"columns": 10, "width": W, "steps": 10, "lateral": 0.1} for W in (20, 40, 80)]
    shapes += [{"columns": C, "width": 5, "steps": 10, "lateral": 0.1} for C in (20, 40, 80, 160)]
    shapes += [{"columns": 10, "width": 10, "steps": T, "lateral": 0.1} for T in (10, 20, 40)]
    rows = []
    for number, shape in enumerate(shapes):
        for place, (family, window) in enumerate(FAMILIES):
            row = _row("additive", 0.0, 0, family, window) | shape | {"job": f"{number}.0"}
            C, W, T = (int(str(row[name])) for name in ("columns", "width", "steps"))
            theta = C * (W * W + 51 * W)
            row |= {"parameters": theta, "operations": (2.0 + place) * theta * (C if family == "rtrl" else 1)}
            row |= {"memory": (4 + place) * (T * C if family == "bptt" else theta), "seconds": 1e-9 * theta}
            rows.append(row)
    return pd.DataFrame(rows)


def grouped() -> pd.DataFrame:
    """Rows of `grouping`."""
    frame = everything()
    frame = frame[(frame["cell"] == "additive") & frame["estimator"].isin(["master-user", "master-user-groups"])]
    columnar = frame.assign(network="columnar")
    rnn = columnar[(columnar["estimator"] == "master-user-groups") & (columnar["lateral"] == 19)]
    return pd.concat([columnar, rnn.assign(network="dense-rnn", alignment=0.55)], ignore_index=True)


MADE = {"estimators": everything, "cost": prices, "grouping": grouped}
"""Sweeps of estimators and experiments that need no plan here."""


def source(figure: str, style: str = "paper", metric: str | None = None, seeds: str = "0:4") -> Source:
    """What a figure is drawn from, complete."""
    entry = known_figures()[figure]
    chosen = metric or (entry.metrics[0] if entry.metrics else "")
    if any(sweep in MADE for sweep in entry.needs):
        return Source({sweep: MADE[sweep]() for sweep in entry.needs}, {}, STYLES[style], chosen, axes_of(entry))
    plans = {sweep: plan(sweep, seeds) for sweep in entry.needs}
    frames = {name: table(each) for name, each in plans.items()}
    return Source(frames, {name: plan_of(each) for name, each in plans.items()}, STYLES[style], chosen, axes_of(entry))
