"""The sweeps of the paper's figures: each file parses and is the grid that it should be."""

from pathlib import Path

import pytest

from colrun.experiments.axes import Value
from colrun.sweep.file import read_sweep
from colrun.sweep.plan import Skipped, entries
from tests.runs import ROOT

SWEEPS = sorted((ROOT / "sweeps").glob("*.toml"))
SLIDING = ["tbptt-1", "tbptt-3", "tbptt-5", "tbptt-20", "tbptt-40"]
BLOCKS = ["tbptt-block-1", "tbptt-block-3", "tbptt-block-5", "tbptt-block-20", "tbptt-block-40"]
META = ["tbptt-1", "tbptt-5", "tbptt-10", "tbptt-40"]
META_BLOCKS = ["tbptt-block-1", "tbptt-block-5", "tbptt-block-10", "tbptt-block-40"]
LEVELS = {0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0}
# 1000 % is above the dense network of 5 or 10 columns.
GRID_LEVELS = {
    5: LEVELS - {10.0} | {4.0},
    10: LEVELS - {10.0} | {9.0},
    20: LEVELS | {19.0},
    50: LEVELS | {49.0},
    100: LEVELS | {99.0},
}
GRID_CONFIGS = 5 * sum(len(levels) for levels in GRID_LEVELS.values())

ALL = [
    "bptt",
    "rtrl",
    *("elman", "tbptt-5", "tbptt-20", "tbptt-40"),
    *("tbptt-block-5", "tbptt-block-20", "tbptt-block-40"),
    "master-user",
    "master-user-groups",
    *("snap-1@v2", "snap-2@v2", "rflo", "rflo-symmetric", "uoro", "nobacktrack", "kf-rtrl"),
]
SEEDS = {"demo": "0:30", "cost": "0", "learning": "0:40"}
TABLE: dict[str, tuple[int, list[str] | None]] = {
    "rnn-alignment": (2 * 11 * 100, ["master-user", *SLIDING, *BLOCKS]),
    "meta-alignment": (2 * 11 * 100, ["master-user", *META, *META_BLOCKS]),
    "meta-ablation": (2 * 11 * 3 * 100, ["master-user", "master-user-no-meta"]),
    "state-decay": (2 * 4 * 2 * 100, []),
    "gru-alignment": (2 * 11 * 100, ["master-user", *SLIDING, *BLOCKS]),
    "step-size": (2 * 11 * 3 * 100, ["master-user", *META, *META_BLOCKS]),
    "rnn-grid": (GRID_CONFIGS * 100, ["master-user", *SLIDING]),
    "meta-grid": (GRID_CONFIGS * 3 * 100, ["master-user", *META]),
    "grouping": (2 * (11 + 1) * 100, None),
    "cost": (5 + 3 + 3 * 2 + 4 + 3, ALL),
    "estimators": (2 * 11 * 100, ALL),
    "learning": (3 * 2 * 6 * 40, None),
    "demo": (6 * 30, ["master-user", "tbptt-1", "tbptt-5", "tbptt-20", "tbptt-40"]),
}


def configs(name: str) -> list[dict[str, Value]]:
    return [entry.experiment.as_dict(entry.config) for entry in entries(read_sweep(name))]


def values(name: str, axis: str) -> set[object]:
    return {config[axis] for config in configs(name)}


def test_every_file_is_in_the_table() -> None:
    assert {path.stem for path in SWEEPS} == set(TABLE)


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_grid(path: Path) -> None:
    sweep = read_sweep(str(path))
    assert sweep.name == path.stem  # sweep, file and figure are one word
    assert sweep.description
    jobs, estimators = TABLE[path.stem]
    found = list(entries(sweep))
    assert sum(len(entry.seeds) for entry in found) == jobs
    if estimators is not None:
        assert {entry.estimators for entry in found} == {tuple(estimators)}
    assert {str(entry.seeds) for entry in found} == {SEEDS.get(path.stem, "0:100")}
    assert {config["dtype"] for config in configs(path.stem)} == {"float32"}


@pytest.mark.parametrize("name", ["rnn-alignment", "meta-alignment", "meta-ablation", "gru-alignment", "step-size"])
def test_the_papers_network(name: str) -> None:
    for axis, wanted in {
        "columns": {20},
        "width": {50},
        "steps": {50},
        "inputs": {50},
        "lateral": LEVELS | {19.0},
    }.items():
        assert values(name, axis) == wanted
    assert values(name, "reading") == {"text", "release"}


@pytest.mark.parametrize("name", ["rnn-grid", "meta-grid"])
def test_the_grids_of_shapes(name: str) -> None:
    skipped = Skipped()
    found = [entry.experiment.as_dict(entry.config) for entry in entries(read_sweep(name), skipped)]
    for C, levels in GRID_LEVELS.items():
        assert {config["lateral"] for config in found if config["columns"] == C} == levels
    assert {(c["columns"], c["width"]) for c in found} == {(C, W) for C in GRID_LEVELS for W in GRID_LEVELS}
    assert {c["reading"] for c in found} == {"text"}
    assert len(skipped.reasons) == 2  # 1000 % for 5 and for 10 columns


def test_cells_and_step_sizes() -> None:
    assert {(c["cell"], c["reading"]) for c in configs("gru-alignment")} == {("gru", "text"), ("mgu", "release")}
    for name, cell in {"rnn-alignment": "additive", "rnn-grid": "additive", "demo": "additive"}.items():
        assert values(name, "cell") == {cell}
        assert values(name, "step_size") == {None}
    sizes = {
        "meta-alignment": ("feedforward", {1e-2}),
        "meta-ablation": ("additive", {1e-2, 1e-3, 1e-4}),
        "step-size": ("feedforward", {1e-1, 1e-2, 1e-3}),
        "meta-grid": ("feedforward", {1e-1, 1e-2, 1e-3}),
    }
    for name, (cell, alphas) in sizes.items():
        assert values(name, "cell") == {cell}
        assert values(name, "step_size") == alphas


def test_grouping() -> None:
    found = {
        (c["network"], c["lateral"], entry.estimators)
        for entry in entries(read_sweep("grouping"))
        for c in [entry.experiment.as_dict(entry.config)]
    }
    groups = "master-user-groups"
    assert found == {("columnar", level, ("master-user", groups)) for level in LEVELS | {19.0}} | {
        ("dense-rnn", 19.0, (groups,))
    }


def test_cost_can_be_fitted_and_joined() -> None:
    shapes = {(c["columns"], c["width"], c["steps"]) for c in configs("cost")}
    assert {(10, 20, 10), (10, 40, 10), (10, 80, 10)} < shapes  # |θ|
    assert {(20, 5, 10), (40, 5, 10), (80, 5, 10), (160, 5, 10)} < shapes  # C
    assert {(10, 10, 10), (10, 10, 20), (10, 10, 40)} < shapes  # T
    joined = {(c["cell"], c["lateral"]) for c in configs("cost") if (c["columns"], c["width"]) == (20, 50)}
    assert joined < {(c["cell"], c["lateral"]) for c in configs("estimators")}
    assert len(joined) == 8


def test_decay() -> None:
    found = {(c["cell"], c["hidden"], c["bias"], c["steps"], c["inputs"]) for c in configs("state-decay")}
    assert found == {(cell, n, b, 20, 50) for cell in ("lstm", "gru") for n in (10, 20, 50, 100) for b in (False, True)}
