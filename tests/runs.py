"""Runs the command line on networks so small that a job takes milliseconds."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from colrun.cli import main
from colrun.store.load import load_table
from colrun.store.paths import Paths

TINY: dict[str, Any] = {
    "name": "tiny",
    "estimators": ["master-user", "tbptt-3"],
    "seeds": "0:5",
    "steps": 10,
    "inputs": 5,
    "columns": [3, 4],
    "width": 2,
    "lateral": ["0%", "50%", "dense"],
}
"""30 jobs of alignment."""

DECAY: dict[str, Any] = {
    "name": "fading",
    "experiment": "decay",
    "seeds": "0:3",
    "steps": 4,
    "inputs": 3,
    "hidden": [3, 5],
    "cell": ["lstm", "gru"],
}
"""12 jobs of decay."""

ROOT = Path(__file__).parents[1]


def colrun(*arguments: object) -> Result:
    """The command in this process; whatever is not an exit code is raised, so that no traceback goes unseen."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def real(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    command = [sys.executable, "-m", "colrun", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **options)


def toml(content: dict[str, Any], *grids: dict[str, Any]) -> str:
    """A sweep file: keys at the top, then grids."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in content.items()]
    for grid in grids:
        lines += ["[[grid]]", *(f"{key} = {json.dumps(value)}" for key, value in grid.items())]
    return "\n".join(lines) + "\n"


def write(folder: Path, content: dict[str, Any], *grids: dict[str, Any], file: str = "sweep.toml") -> Path:
    """A sweep file on disk."""
    path = folder / file
    path.write_text(toml(content, *grids), encoding="utf-8")
    return path


def bits(folder: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Every row by job and what tells its rows apart, floats to the last bit. Fails on a row that is there twice."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in load_table(folder).to_pylist():
        key = (row["job"], *(row.get(name) for name in ("estimator", "window", "step", "quantity")))
        assert key not in found
        found[key] = {name: value.hex() if isinstance(value, float) else value for name, value in row.items()}
    return found


def computed(result: Result) -> int:
    """How many jobs a sweep says it has computed."""
    match = re.search(r"([0-9]+) computed", result.stdout)
    assert match, result.output
    return int(match[1])


def resume(paths: Paths, *options: object) -> Result:
    """The sweep of a folder again, from the file that made it."""
    return colrun("sweep", paths.sweep.parents[1] / "sweep.toml", "-j", 1, "--out", paths.sweep.parent, *options)


def files(folder: Path) -> list[str]:
    """Everything below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder and what it holds."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def refused(*arguments: object) -> str:
    """The one sentence of a refusal."""
    before = files(Path())
    result = colrun(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert files(Path()) == before
    return result.stderr.strip().splitlines()[-1]
