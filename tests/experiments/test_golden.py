"""No number changes unnoticed: rows computed today are those kept in tests/golden."""

import json
import math
from typing import Any

import pytest

from colrun.experiments import EXPERIMENTS
from colrun.networks.cells import CELLS
from tests.golden import SWEEPS, compute, path

ADVICE = (
    "If this change of numbers is intended, raise `numerics` of experiment {kind} in "
    "colrun/experiments/{kind}/__init__.py, so that stored rows count as stale, and rewrite the golden rows with "
    "`python -m tests.golden`."
)


def differs(old: Any, new: Any, scale: float = 0.0) -> bool:
    """Whether a number changed; `scale` is that of what may be rounding alone."""
    if isinstance(old, float) and isinstance(new, float):
        return not math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-9 * scale)
    return type(old) is not type(new) or bool(old != new)


def scale(name: str, row: dict[str, Any]) -> float:
    """Of gradients for their difference; bias and variance are differences of squares, the former under a root."""
    return {"mae": row["mean_abs_truth"], "bias": 100.0, "variance": 1.0}.get(name, 0.0) if "mae" in row else 0.0


@pytest.mark.parametrize("kind", SWEEPS)
def test_golden_rows(kind: str) -> None:
    kept = json.loads(path(kind).read_text(encoding="utf-8"))
    advice = ADVICE.format(kind=kind)
    assert kept["numerics"] == EXPERIMENTS[kind].numerics, (
        f"numerics was raised: run `python -m tests.golden`. {advice}"
    )
    found = compute(kind)
    assert [row["parameters"] for row in kept["rows"]] == [row["parameters"] for row in found["rows"]]
    changed = [
        f"{old['parameters']} {name}: {old['row'][name]} became {new['row'][name]}"
        for old, new in zip(kept["rows"], found["rows"], strict=True)
        for name in old["row"]
        if differs(old["row"][name], new["row"][name], scale(name, old["row"]))
    ]
    assert not changed, "\n".join([f"{len(changed)} numbers changed. {advice}", *changed[:5]])


def test_golden_rows_cover_every_experiment_cell_and_reading() -> None:
    assert SWEEPS.keys() == EXPERIMENTS.keys()
    rows = json.loads(path("alignment").read_text(encoding="utf-8"))["rows"]
    seen = {(r["parameters"]["cell"], r["parameters"]["reading"], r["parameters"]["step_size"]) for r in rows}
    assert seen == {
        (cell, reading, alpha) for cell in CELLS for reading in ("text", "release") for alpha in (None, 0.01)
    }
    assert len(rows) == 5 * 2 * 2 * 2 * 14 - 2 * 2 * 2 * 2  # the two of rflo are not defined on one cell
    assert sum(row["row"]["alignment"] is not None for row in rows) > 200  # they are not all undefined


def test_a_changed_number_is_noticed() -> None:
    assert differs(1.0, 1.0 + 1e-8)
    assert not differs(1.0, 1.0 + 1e-11)
    assert differs(3, 4)
    assert differs(None, 0.5)
    assert differs(True, False)
    assert differs(1, 1.0)
