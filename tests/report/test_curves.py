"""What the explorer is given."""

import json
from typing import Any

import pandas as pd
import pytest

from colrun.experiments import EXPERIMENTS
from colrun.report.curves import STATISTICS, curves
from tests.claims.tables import ERROR, alignment, diverging

AXES = list(EXPERIMENTS["alignment"].explored)
EVERY = {"alignment_released": 0.5, "cosine": 0.25, "norm_ratio": 2.0}


def table(**changes: Any) -> pd.DataFrame:
    return alignment(
        lambda name, level, _: 0.8 if name == "tbptt-40" else 1 - level / 100, ["master-user", "tbptt-40"],
        levels=(0.0, 0.1, 19.0), **changes,
    ).assign(**EVERY)  # fmt: skip


def test_statistics_of_a_curve() -> None:
    (setting,) = curves([table()], AXES)["settings"]
    assert {key: setting[key] for key in ("reading", "cell", "columns", "width", "step_size")} == {
        "reading": "text", "cell": "additive", "columns": 20, "width": 50, "step_size": 0.0,
    }  # fmt: skip
    user, window = setting["curves"]
    assert (user["name"], user["window"], window["name"], window["window"]) == ("master-user", None, "tbptt-40", 40)
    assert user["lateral"] == [0.0, 0.1, 19.0]
    assert user["n"] == [26, 26, 26]
    assert dict(zip(STATISTICS, user["alignment"], strict=True))["mean"] == [1.0, 0.999, 0.81]
    found = {name: values[0] for name, values in zip(STATISTICS, window["alignment"], strict=True)}
    assert found == pytest.approx({"mean": 0.8, "error": ERROR, "median": 0.8, "lower": 0.75, "upper": 0.85}, abs=1e-5)
    assert window["norm_ratio"][0] == [2.0, 2.0, 2.0]


def test_diverged_rows_are_counted_and_left_out() -> None:
    (setting,) = curves([diverging(table(), 6 / 26)], AXES)["settings"]
    user, _ = setting["curves"]
    assert (user["n"], user["diverged"]) == ([26] * 3, [6] * 3)
    assert user["mae"][0] == pytest.approx([1e-7] * 3)
    (setting,) = curves([diverging(table(), 1.0)], AXES)["settings"]
    assert setting["curves"][0]["alignment"] == [[None] * 3] * 5
    assert json.dumps(setting, allow_nan=False)


def test_a_network_of_two_sweeps_counts_once_and_others_stay_apart() -> None:
    other = table().assign(mask_recurrence=False, alignment=0.1)
    wider = table(width=100)
    learning = table(steps=[1e-2], cell="feedforward", reading="release")
    found = curves([table(), table(), other, wider, learning], AXES)["settings"]
    assert [(s["reading"], s["cell"], s["width"], s["step_size"]) for s in found] == [
        ("text", "additive", 50, 0.0), ("text", "additive", 100, 0.0), ("release", "feedforward", 50, 0.01),
    ]  # fmt: skip
    assert found[0]["curves"][0]["n"] == [26, 26, 26]
    assert found[0]["curves"][0]["alignment"][0][0] == 1.0


def test_nothing() -> None:
    assert curves([], AXES) == {"metrics": {}, "settings": []}


def test_looks_and_order_are_those_of_the_table_of_estimators() -> None:
    names = ["tbptt-block-40", "tbptt-40", "tbptt-1", "snap-2", "master-user", "elman"]
    rows = alignment(lambda *_: 0.5, names, levels=(0.0,)).assign(**EVERY)
    mine = rows[rows["estimator"] == "elman"].assign(estimator="mine")  # a plug-in that is not at hand
    (setting,) = curves([rows, mine], AXES)["settings"]
    found = [(curve["name"], curve["colour"], curve["dash"], curve["end"]) for curve in setting["curves"]]
    assert found == [
        ("master-user", "var(--ink)", "", "master-user"),
        ("elman", "var(--c3)", "2 3", "elman"),
        ("mine", "var(--c4)", "5 4", "mine"),
        ("snap-2", "var(--c5)", "", "snap-2"),
        ("tbptt-1", "var(--c1)", "", "1"),
        ("tbptt-40", "var(--c2)", "", "40"),
        ("tbptt-block-40", "var(--c2)", "5 4", ""),
    ]
