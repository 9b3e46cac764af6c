"""Fitted exponents: on made-up tables, and on what the online forms really do."""

from typing import Any

import pandas as pd
import pytest

from colrun.estimators import ESTIMATORS
from colrun.experiments import get_experiment
from colrun.experiments.cost import job as cost
from colrun.experiments.cost.exponents import fit_exponents

SMALL: dict[str, Any] = {"columns": 4, "width": 4, "inputs": 4, "lateral": 0.1, "steps": 4}
# Where the leading term leads: rtrl's |h|²|θ| is beside some 7 |h||θ|.
GROWTH: dict[str, list[dict[str, Any]]] = {
    "parameters": [{"width": W, "inputs": 20, "steps": 2} for W in (10, 20, 40)],
    "columns": [{"columns": C, "width": 3, "inputs": 3, "steps": 2} for C in (40, 60, 90)],
    "steps": [{"steps": T} for T in (3, 6, 12)],
}
WINDOWS = {"snap": (1, 2)}
NAMES = {
    family: [f"{family}-{k}" for k in WINDOWS.get(family, (4, 8, 16))] if entry.windowed else [family]
    for family, entry in ESTIMATORS.items()
    if not entry.only_learns
}


def rows(changes: dict[str, Any], estimators: list[str]) -> list[dict[str, Any]]:
    experiment = get_experiment("cost")
    config = experiment.point(**(SMALL | changes))
    return [experiment.as_dict(config) | {"seed": 0} | row for row in cost.run(config, [0], estimators)[0]]


@pytest.mark.parametrize("family", NAMES)
def test_online_forms_cost_what_theory_says(family: str) -> None:
    names, power = NAMES[family], ESTIMATORS[family].operations
    assert power is not None
    measured = names if power.reached else names[:1]  # its order is a window by name only: it goes back no further
    points = [point for axis in GROWTH.values() for point in axis]
    if power.reached:
        points += [point | {"lateral": level} for point in GROWTH["parameters"] for level in (0.0, "dense")]
    found = [row for point in points for row in rows(point, measured)]
    if power.window:
        found += rows({}, names)
    same = ["width", "columns", "steps", "inputs", "lateral", "window"]
    fitted = fit_exponents(pd.DataFrame(found).drop_duplicates(same))
    fitted = fitted[fitted["theory"].notna()]
    operations = fitted[fitted["quantity"] == "operations"]
    assert set(operations["axis"]) >= {axis for axis in GROWTH if power.along(axis, even=True) is not None}
    assert operations["difference"].abs().max() < 0.1, operations[["axis", "exponent", "theory"]].to_string()
    memory = fitted[fitted["quantity"] == "memory"]
    assert memory["difference"].abs().max() < 0.15, memory[["axis", "exponent", "theory"]].to_string()


def test_master_user_is_linear_and_rtrl_is_not() -> None:
    """The claim linear-cost: along both ways in which |θ| grows."""
    found = [
        row for axis in ("parameters", "columns") for point in GROWTH[axis] for row in rows(point, ["master-user"])
    ]
    fitted = fit_exponents(pd.DataFrame(found))
    linear = fitted[fitted["quantity"].isin(["operations", "memory"])]
    assert len(linear) == 4
    assert linear["exponent"].tolist() == pytest.approx([1.0] * 4, abs=0.02)
    assert ESTIMATORS["rtrl"].operations.along("columns") == 3  # type: ignore[union-attr]


def test_a_made_up_table() -> None:
    table = pd.DataFrame(rows({}, ["rtrl"]) * 6)
    table["columns"] = [2, 2, 4, 4, 8, 8]
    table["operations"] = [7.0 * C**2.5 for C in table["columns"]]
    table["memory"] = 0
    fitted = fit_exponents(table).set_index("quantity")
    assert list(fitted.index) == ["operations", "memory", "seconds"]
    assert set(fitted["axis"]) == {"columns"}
    assert fitted.loc["operations", "exponent"] == pytest.approx(2.5)
    assert fitted.loc["operations", "difference"] == pytest.approx(-0.5)
    assert fitted["exponent"].isna().tolist() == [False, True, False]
    assert fitted["theory"].isna().tolist() == [False, False, True]
    assert fitted[["points", "smallest", "largest"]].iloc[0].tolist() == [3, 2.0, 8.0]
    assert fit_exponents(table[table["columns"] < 8]).empty
    assert fit_exponents(table.iloc[:0]).empty
