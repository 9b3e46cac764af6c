"""Made-up tidy tables in which every mean and standard error is known.

Master-User and window 20 have no spread over seeds; every other estimator is its mean ± `SPREAD`, half of the 26 seeds
each, so the standard error of its mean, and of its paired difference to one of those two, is SPREAD/5. On gated cells
and at step size 0.1 the signs are the other way round, so that a difference of an estimator to itself has twice that.
"""

import itertools
from collections.abc import Callable, Iterable

import pandas as pd

from colrun.estimators import parse_estimator
from colrun.networks.readings import READINGS, SWITCHES
from colrun.verdicts.scope import LEVELS

SEEDS = range(26)
SPREAD = 0.05
ERROR = SPREAD / 5
RNN = ("master-user", *(f"tbptt-{k}" for k in (1, 3, 5, 20, 40)), *(f"tbptt-block-{k}" for k in (1, 3, 5, 20, 40)))
META = ("master-user", *(f"tbptt-{k}" for k in (1, 5, 10, 40)), *(f"tbptt-block-{k}" for k in (1, 5, 10, 40)))
Mean = Callable[[str, float, float], float]
"""(estimator, level, step size or 0) → mean alignment."""


def alignment(
    mean: Mean,
    estimators: Iterable[str] = RNN,
    steps: Iterable[float | None] = (None,),
    levels: Iterable[float] = (*LEVELS, 19.0),
    mae: Mean = lambda *_: 1e-7,
    reading: str = "text",
    cell: str = "additive",
    columns: int = 20,
    width: int = 50,
    seeds: range = SEEDS,
) -> pd.DataFrame:
    """Rows of experiment alignment."""
    points = []
    for name, level, step in itertools.product(estimators, levels, steps):
        if level > columns - 1:
            continue
        estimator = parse_estimator(name)
        spread = 0.0 if name in ("master-user", "tbptt-20") else SPREAD
        if cell in ("gru", "mgu") or step == 0.1:
            spread = -spread
        points.append(
            {
                "lateral": level, "step_size": step, "estimator": estimator.family, "window": estimator.window,
                "alignment": mean(name, level, step or 0.0), "mae": mae(name, level, step or 0.0), "spread": spread,
            }
        )  # fmt: skip
    frame = pd.DataFrame(points).merge(pd.DataFrame({"seed": seeds}), how="cross")
    frame["alignment"] += frame.pop("spread") * (frame["seed"] % 2 * 2 - 1)
    frame = frame.assign(
        reading=reading, cell=cell, columns=columns, width=width, mean_abs_truth=1.0, diverged=False, dtype="float32",
        steps=50, inputs=50, **{key: getattr(READINGS[reading], key) for key in SWITCHES},
    )  # fmt: skip
    return frame.astype({"window": "float64", "step_size": "float64"})


def decay(at: Callable[[str, int, bool, int], float], hidden: Iterable[int] = (10, 50)) -> pd.DataFrame:
    """Rows of experiment decay: (cell, hidden, bias, step) → mean |h|, the seeds 1 % apart either way."""
    rows = [
        {
            "cell": cell, "hidden": size, "bias": bias, "seed": seed, "step": step, "quantity": quantity,
            "value": at(cell, size, bias, step) * (1.01 if seed % 2 else 0.99) * (1 if quantity == "h" else 50),
            "diverged": False,
        }
        for cell, size, bias, step, seed in itertools.product(("lstm", "gru"), hidden, (True, False), range(21), SEEDS)
        for quantity in (("h", "memory") if cell == "lstm" else ("h",))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def cost(operations: float = 1.0, memory: float = 1.0, jacobian: float = 3.0) -> pd.DataFrame:
    """Rows of experiment cost: powers of |θ| for Master-User, and for rtrl where C grows."""
    rows = []
    shapes = [(20, width) for width in (10, 50, 100)] + [(columns, 50) for columns in (5, 10)]
    for (columns, width), name in itertools.product(shapes, ("master-user", "rtrl", "tbptt")):
        parameters = columns * (51 * width + width**2)
        grows = jacobian if name == "rtrl" and width == 50 else 1.0
        rows.append(
            {
                "reading": "text", "cell": "additive", "columns": columns, "width": width, "lateral": 0.1, "seed": 0,
                "step_size": float("nan"), "estimator": name, "window": 40.0 if name == "tbptt" else float("nan"),
                "parameters": parameters, "diverged": False,
                "operations": 7 * parameters ** (operations if name == "master-user" else grows),
                "memory": 8 * parameters ** (memory if name == "master-user" else grows),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def diverging(frame: pd.DataFrame, share: float) -> pd.DataFrame:
    """The same with the first seeds diverged, their metrics absurd."""
    seeds = frame["seed"].nunique()
    lost = frame["seed"] < round(share * seeds)
    frame = frame.copy()
    for metric in {"alignment", "mae", "value"} & set(frame):
        frame.loc[lost, metric] = float("nan") if metric == "alignment" else 1e30
    frame.loc[lost, "diverged"] = True
    return frame
