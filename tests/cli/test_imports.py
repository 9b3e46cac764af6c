"""What reads stored rows imports neither torch nor numba."""

import os
import subprocess
import sys
from pathlib import Path

from tests.runs import ROOT, TINY, colrun, write

CODE = """
import sys
from pathlib import Path
from click.testing import CliRunner
import colrun
from colrun.cli import main
from colrun.estimators import ESTIMATORS, why_undefined
for family in ESTIMATORS:
    why_undefined(family, "feedforward")
rows = colrun.load("results/tiny")
job = rows["job"].iloc[0]
for arguments in (
    ["status"], ["status", "sweep.toml", "--verify"], ["sweep", "sweep.toml", "--dry-run", "-j", "1"],
    ["sweep", "sweep.toml", "--dry-run", "-j", "1", "--shard", "1/2"], ["sweep", "sweep.toml", "-j", "1"],
    ["show", job], ["list"], ["export", "tiny", "--csv"], ["merge", "results", "--out", "joined"], ["compact", "tiny"],
    ["job", "sweep.toml", "--list", "--seeds", "0:9"], ["script", "slurm", "sweep.toml"],
):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, (arguments, result.output)
    heavy = {"torch", "numba"} & set(sys.modules)
    assert not heavy, (arguments, heavy)
"""


def test_no_torch_and_no_numba(tmp_path: Path) -> None:
    write(tmp_path, {**TINY, "columns": 3})
    out = tmp_path / "results"
    for seeds in ("0:2", "2:5"):
        assert colrun("sweep", tmp_path / "sweep.toml", "-j", 1, "--out", out, "--seeds", seeds).exit_code == 0
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", CODE], check=True, env=environment, cwd=tmp_path)
