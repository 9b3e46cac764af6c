"""A working folder as a user has it: a sweep file, `colrun` on the PATH, and generated scripts that are run."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

import colrun
from tests.runs import ROOT

KEY = ["job", "estimator", "window"]
LIMIT = 900
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
"""72 jobs of a millisecond: what is cut, quoted and submitted, not what it computes."""
LONGER = """
name = "longer"
estimators = ["master-user", "tbptt-1", "tbptt-40", "tbptt-block-5"]
seeds = "0:100"
[grid]
columns = [10, 20]
width = 50
lateral = ["0%", "1%", "10%", "100%", "dense"]
"""
"""1,000 jobs, some seconds: long enough that something can happen in between."""


@dataclass
class Work:
    """A folder, and what is set in the shell that works there."""

    path: Path
    text: str = TEXT
    file: str = "sweep.toml"
    unit_seconds: str = "0.0001"
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.path / "bin").mkdir(parents=True)
        (self.path / self.file).write_text(self.text)
        program = self.path / "bin" / "colrun"
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m colrun "$@"\n')
        program.chmod(0o755)

    @property
    def shell(self) -> dict[str, str]:
        """The environment, without a Slurm job's or a GNU Parallel's."""
        own = {"PATH": f"{self.path / 'bin'}:{os.environ['PATH']}", "COLRUN_UNIT_SECONDS": self.unit_seconds}
        return {**os.environ, "PARALLEL_HOME": str(self.path / "bin"), **own, **self.environment}

    def start(self, *command: str) -> subprocess.Popen[str]:
        """In a process group of its own, as a shell starts it; says everything on one file."""
        with open(self.path.parent / f"{self.path.name}.said", "a") as said:
            return subprocess.Popen(
                command, cwd=self.path, env=self.shell, stdout=said, stderr=said, text=True, process_group=0
            )

    def said(self) -> str:
        """By what was started."""
        return (self.path.parent / f"{self.path.name}.said").read_text()

    def run(self, *command: str, code: int = 0) -> str:
        """A command that must end with that exit code; what it said."""
        done = subprocess.run(
            command, cwd=self.path, env=self.shell, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def script(self, engine: str, *options: str) -> None:
        """Make `run.sh`, which must please shellcheck where that is installed."""
        self.run("colrun", "script", engine, *options, "-o", "run.sh", "--", self.file)
        if shutil.which("shellcheck"):
            self.run("shellcheck", "--exclude=SC2016", "run.sh")  # a $ in a name is not meant to be expanded

    def results(self, name: str = "small") -> Path:
        return self.path / "results" / name

    def parts(self, name: str) -> list[Path]:
        return sorted((self.results(name) / "rows").glob("*.parquet"))

    def rows(self, name: str = "small") -> pd.DataFrame:
        """What plain pandas reads, no row twice."""
        return sorted_rows(self.results(name))

    def same_as(self, truth: pd.DataFrame, name: str = "small") -> None:
        """Bit by bit, by plain pandas and by colrun, in parts that are what was written."""
        exactly(self.rows(name), truth)
        exactly(colrun.load(self.results(name)).drop(columns="name").sort_values(KEY, ignore_index=True), truth)
        assert "verified" in self.run("colrun", "status", "--verify", self.file)


def sorted_rows(folder: Path) -> pd.DataFrame:
    frame = pd.read_parquet(folder)
    assert not frame.duplicated(KEY).any(), "a row appears twice"
    return frame.sort_values(KEY, ignore_index=True)


def exactly(left: pd.DataFrame, right: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(left, right, check_exact=True)
