"""Quality and cost, joined."""

import pandas as pd
import pytest

from colrun.experiments.across.tradeoff import JOINED, tradeoff

NETWORK = {
    "task": "random",
    "reading": "text",
    "cell": "gru",
    "columns": 20,
    "width": 50,
    "step_size": None,
    "steps": 50,
    "inputs": 50,
}


def quality(
    estimator: str, window: int | None, lateral: float, alignments: list[float | None]
) -> list[dict[str, object]]:
    names = {"estimator": estimator, "window": window, "lateral": lateral, "cosine": 0.5, "norm_ratio": 2.0}
    return [
        NETWORK | names | {"alignment": value, "seed": seed, "diverged": value is None}
        for seed, value in enumerate(alignments)
    ]


def price(estimator: str, window: int | None, lateral: float, operations: list[float]) -> list[dict[str, object]]:
    names = {"estimator": estimator, "window": window, "lateral": lateral, "memory": 8, "seconds": 0.1}
    return [NETWORK | names | {"operations": o, "parameters": 10, "seed": s} for s, o in enumerate(operations)]


def test_joined_by_network_level_estimator_and_window() -> None:
    frame = pd.DataFrame(
        quality("master-user", None, 0.1, [0.8, 0.6, None])
        + quality("tbptt", 1, 0.1, [0.5, 0.5, 0.5])
        + quality("tbptt", 5, 0.1, [0.9, 0.9, 0.9])
        + quality("tbptt", 5, 0.3, [0.7, 0.7, 0.7])
    )
    costs = pd.DataFrame(
        price("master-user", None, 0.1, [10.0, 14.0]) + price("tbptt", 5, 0.1, [50.0]) + price("rtrl", None, 0.1, [9.0])
    )
    joined = tradeoff(frame, costs)
    assert joined["estimator"].tolist() == ["master-user", "tbptt"]  # what both frames hold
    master, tbptt = joined.iloc[0], joined.iloc[1]
    assert master["alignment"] == pytest.approx(0.7)
    assert master["alignment_sem"] == pytest.approx(0.1)
    assert (master["networks"], master["diverged"], master["operations"]) == (2, 1, 12.0)
    assert (tbptt["window"], tbptt["lateral"], tbptt["operations"], tbptt["alignment"]) == (5, 0.1, 50.0, 0.9)
    assert set(JOINED) < set(joined.columns)
