"""Rows of `alignment` are what the Python API computes for the same network."""

from typing import Any

import pytest
import torch

import colrun
from colrun.experiments.alignment import job as alignment
from colrun.experiments.network import MeasuredConfig
from colrun.sweep.file import parse_sweep

ESTIMATORS = ["master-user", "master-user-no-meta", "tbptt-3", "tbptt-block-3", "rtrl"]
BASE: dict[str, Any] = {
    "name": "x",
    "estimators": ESTIMATORS,
    "seeds": [0],
    "steps": 10,
    "inputs": 5,
    "dtype": "float64",
}


def config(**values: Any) -> MeasuredConfig:
    sweep = parse_sweep({**BASE, "columns": 4, "width": 3, **values}, "x", "", {})
    (found,) = sweep.experiment.expand(sweep.grids[0].values, lambda reason: pytest.fail(reason))
    assert isinstance(found, MeasuredConfig)
    return found


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"lateral": "100%"},
        {"lateral": "dense", "reading": "release"},
        {"cell": "gru", "lateral": "50%"},
        {"cell": "lstm", "lateral": "50%", "state_bias": True},
        {"cell": "mgu", "reading": "release", "lateral": 1, "mask_recurrence": False},
        {"cell": "feedforward", "lateral": "100%", "step_size": 0.01},
        {"lateral": "100%", "step_size": 0.001, "init": "pytorch", "own_state": False},
        {"columns": 1, "lateral": "dense"},
    ],
    ids=str,
)
def test_rows(values: dict[str, Any]) -> None:
    chosen = config(**values)
    seeds = [3, 7, 4]
    rows = alignment.run(chosen, seeds, ESTIMATORS)
    switches = {
        name: getattr(chosen, name)
        for name in ("init", "own_state", "state_bias", "mask_own_recurrence", "mask_recurrence")
    }
    for seed in seeds:
        network = colrun.network(
            seed,
            chosen.cell,
            chosen.columns,
            chosen.width,
            chosen.lateral,
            5,
            chosen.reading,
            **switches,
        )
        sequence = colrun.sequence(seed, 10, 5)
        truth = colrun.gradients(network, sequence, "bptt", chosen.step_size)
        assert [row["estimator"] for row in rows[seed]] == [
            "master-user",
            "master-user-no-meta",
            "tbptt",
            "tbptt-block",
            "rtrl",
        ]
        assert [row["window"] for row in rows[seed]] == [None, None, 3, 3, None]
        for name, row in zip(ESTIMATORS, rows[seed], strict=True):
            estimate = colrun.gradients(network, sequence, name, chosen.step_size)
            for metric, value in colrun.compare(network, truth, estimate).items():
                wanted = None if value != value else pytest.approx(value, rel=1e-9, abs=1e-12)
                assert row[metric] == wanted, (name, metric)
            assert isinstance(row["compared"], int)
            assert row["diverged"] is False
            assert 0 < row["max_error"] < 1000


def test_lateral_weights_are_those_of_u_over_all_gates() -> None:
    for cell, gates in {"additive": 1, "gru": 3, "mgu": 2, "lstm": 4, "feedforward": 1}.items():
        rows = alignment.run(config(cell=cell, lateral="dense"), [0], ["bptt"])
        assert rows[0][0]["lateral_weights"] == gates * 4 * 3 * 3  # gates, columns, others, width
        assert alignment.run(config(cell=cell), [0], ["bptt"])[0][0]["lateral_weights"] == 0


def test_divergence_is_kept_and_flagged() -> None:
    (row,) = alignment.run(config(step_size=10.0, steps=50), [0], ["master-user"])[0]
    assert row["diverged"] is True
    assert row["max_error"] > 1e100
    assert row["mae"] is None  # not a number


def test_an_undefined_metric_is_null_and_no_divergence() -> None:
    # A single unit whose relu never opens: every gradient is 0, and the share of aligned ones is 0/0.
    (row,) = alignment.run(config(cell="feedforward", columns=1, width=1, steps=1, inputs=1), [0], ["master-user"])[0]
    assert row["alignment"] is row["alignment_released"] is row["cosine"] is row["norm_ratio"] is None
    assert (row["mae"], row["mean_abs_truth"], row["compared"], row["diverged"]) == (0.0, 0.0, 0, False)


def test_the_dtype_is_that_of_the_computation() -> None:
    single = alignment.run(config(lateral="100%", dtype="float32"), [0], ["master-user"])[0][0]
    double = alignment.run(config(lateral="100%"), [0], ["master-user"])[0][0]
    assert single["mae"] != double["mae"]
    assert single["mae"] == pytest.approx(double["mae"], rel=1e-3)
    assert torch.get_default_dtype() == torch.float32
