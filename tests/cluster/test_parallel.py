"""`colrun script parallel`, run by the real GNU Parallel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

KEY = ["job", "estimator", "window"]
TEXT = """
name = "small"
estimators = ["master-user", "tbptt-1", "tbptt-5"]
seeds = "0:12"
steps = 10
inputs = 5
[grid]
columns = [3, 5]
width = 2
lateral = ["0%", "10%", "dense"]
"""
ODD_NAMES = [
    "plain.toml",
    "with space.toml",
    'it\'s "quoted".toml',
    "semi;touch hacked;.toml",
    "$(touch hacked) `touch hacked` $HOME.toml",
    "a{}b{.}c{#}d{= $_=1 =}.toml",
    "-j.toml",
    "stars*?[a].toml",
    "back\\slash.toml",
]


def run(folder: Path, *command: str) -> str:
    """With `colrun` on the path as after an installation: this checkout's, run by this Python."""
    program = folder / "bin" / "colrun"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m colrun "$@"\n')
        program.chmod(0o755)
    root = str(Path(__file__).parents[2])
    added = {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": root, "COLRUN_UNIT_SECONDS": "0.0001"}
    done = subprocess.run(
        command, cwd=folder, env=os.environ | added, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rows(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder).sort_values(KEY, ignore_index=True)


def run_script(folder: Path, sweep: str, *options: str) -> None:
    run(folder, "colrun", "script", "parallel", *options, "-o", "run.sh", "--", sweep)
    run(folder, "bash", "run.sh")


@pytest.fixture(autouse=True)
def _installed() -> None:
    version = shutil.which("parallel") and subprocess.run(
        ["parallel", "--version"], capture_output=True, text=True, check=False
    )
    if not version or "GNU parallel" not in version.stdout:
        pytest.skip("GNU Parallel is not installed (apt-get install parallel)")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "plain.toml").write_text(TEXT)
    run(folder, "colrun", "sweep", "plain.toml", "-j", "2")
    return rows(folder / "results" / "small")


def test_gives_the_table_of_a_sweep_and_may_be_run_again(tmp_path: Path, truth: pd.DataFrame) -> None:
    (tmp_path / "plain.toml").write_text(TEXT)
    run_script(tmp_path, "plain.toml")
    pd.testing.assert_frame_equal(rows(tmp_path / "results" / "small"), truth, check_exact=True)
    parts = sorted((tmp_path / "results" / "small" / "rows").iterdir())
    assert len(parts) > 2, "several units"
    run(tmp_path, "bash", "run.sh")
    assert sorted((tmp_path / "results" / "small" / "rows").iterdir()) == parts


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_stay_names(tmp_path: Path, truth: pd.DataFrame, name: str) -> None:
    (tmp_path / name).write_text(TEXT)
    run_script(tmp_path, name, "--columns", "3", "--results", f"out {name}")
    expected = truth[truth["columns"] == 3].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows(tmp_path / f"out {name}" / "small"), expected, check_exact=True)
    assert {path.name for path in tmp_path.iterdir()} == {name, f"out {name}", "run.sh", "bin"}
