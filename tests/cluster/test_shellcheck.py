"""Every script, as shellcheck sees it: those that are kept, and those with every option."""

import subprocess
from pathlib import Path

import pytest

from tests.cluster.engines import need
from tests.runs import ROOT, colrun

SLURM = "--account a --partition b --max-running 3 --sbatch --qos=c --time 01:00:00 --columns 5,10 --results d/e"
MADE = [["parallel", "--hosts", "my hosts", "--jobs", "4", "--name", "other"], ["slurm"], ["slurm", *SLURM.split()]]


@pytest.mark.parametrize("arguments", MADE, ids=["parallel", "slurm", "slurm with options"])
def test_generated(tmp_path: Path, arguments: list[str]) -> None:
    need("shellcheck", package="shellcheck")
    colrun("script", *arguments, "rnn-grid", "-o", tmp_path / "run.sh")
    checked(tmp_path / "run.sh")


def test_kept() -> None:
    need("shellcheck", package="shellcheck")
    checked(*sorted((ROOT / "scripts").glob("*.sh")), ROOT / ".ci" / "run")


def checked(*scripts: Path) -> None:
    done = subprocess.run(["shellcheck", *map(str, scripts)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
