"""Golden rows: numbers that may not change unless an experiment's `numerics` is raised.

`python -m tests.golden` computes them anew and rewrites the files beside this one.
"""

import json
from pathlib import Path
from typing import Any

from colrun.experiments import EXPERIMENTS
from colrun.networks.cells import CELLS
from colrun.sweep.file import parse_sweep
from colrun.sweep.plan import entries

FOLDER = Path(__file__).parent

SMALL = {"name": "golden", "dtype": "float64", "inputs": 5}
SWEEPS: dict[str, dict[str, Any]] = {
    "alignment": {
        **SMALL,
        "seeds": "0:2",
        "estimators": [
            *("master-user", "master-user-no-meta", "tbptt-1", "tbptt-4", "tbptt-block-4", "rtrl"),
            *("elman", "snap-1", "snap-2", "rflo", "rflo-symmetric", "uoro", "nobacktrack", "kf-rtrl"),
        ],
        "draws": 2,
        "columns": 4,
        "width": 3,
        "steps": 10,
        "lateral": "100%",
        "cell": list(CELLS),
        "reading": ["text", "release"],
        "step_size": ["none", 0.01],
    },
    "cost": {
        **SMALL,
        "experiment": "cost",
        "seeds": "0:1",
        "estimators": ["bptt", "rtrl", "tbptt-2", "tbptt-block-2", "master-user", "master-user-groups"],
        "columns": 4,
        "width": 3,
        "steps": 3,
        "lateral": ["100%", "dense"],
        "cell": ["additive", "lstm"],
        "step_size": ["none", 0.01],
    },
    "grouping": {
        **SMALL,
        "experiment": "grouping",
        "seeds": "0:2",
        "estimators": ["master-user-groups"],
        "columns": 4,
        "width": 3,
        "steps": 6,
        "lateral": "dense",
        "cell": ["additive", "gru"],
        "reading": ["text", "release"],
        "network": ["columnar", "dense-rnn"],
    },
    "learning": {
        "name": "golden",
        "dtype": "float64",
        "experiment": "learning",
        "seeds": "0:2",
        "estimators": ["tbptt-2", "tbptt-3", "frozen"],
        "task": "add-1-3",
        "columns": 3,
        "steps": 40,
        "lateral": ["0%", "dense"],
        "theta_step_size": ["none", 0.01],
    },
    "decay": {
        **SMALL,
        "experiment": "decay",
        "seeds": "0:2",
        "hidden": [3, 10],
        "steps": 5,
        "cell": ["lstm", "gru"],
        "bias": [False, True],
    },
}


def compute(kind: str) -> dict[str, Any]:
    """Rows of all jobs, by parameters."""
    experiment = EXPERIMENTS[kind]
    rows = []
    for entry in entries(parse_sweep(SWEEPS[kind], kind, "", {})):
        jobs = [(entry.config, seed) for seed in entry.seeds]
        for (config, seed), results in experiment.run(jobs, list(entry.estimators)).items():
            identity = {axis.name for axis in experiment.axes if axis.identifies(getattr(config, axis.name))}
            parameters = {k: v for k, v in experiment.as_dict(config).items() if k in identity} | {"seed": seed}
            rows += [{"parameters": parameters, "row": _fixed(row, experiment.times)} for row in results]
    return {"experiment": kind, "numerics": experiment.numerics, "rows": rows}


def _fixed(row: dict[str, Any], times: tuple[str, ...]) -> dict[str, Any]:
    """Without the time it took."""
    return {name: value for name, value in row.items() if name not in times}


def path(kind: str) -> Path:
    """Where they are kept."""
    return FOLDER / f"{kind}.json"


def write() -> None:
    """Rewrite all files, one row per line."""
    for kind in SWEEPS:
        found = compute(kind)
        lines = ",\n".join(json.dumps(row) for row in found["rows"])
        head = f'"experiment": {json.dumps(kind)}, "numerics": {found["numerics"]}'
        path(kind).write_text(f'{{{head}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
        print(f"{path(kind).name}: {len(found['rows'])} rows, numerics {found['numerics']}")
