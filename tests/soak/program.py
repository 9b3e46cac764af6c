"""The program as its users run it, in processes of its own, and what they may expect of its results."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

import colrun

KEY = ["job", "estimator", "window"]
KILLS = int(os.environ.get("SOAK_KILLS", "15"))
"""Kills of each kind; `make soak` sets more."""
LIMIT = 300.0
"""Seconds after which a process hangs, on any machine."""
TEXT = """
name = "soak"
estimators = ["master-user", "tbptt-1", "tbptt-5"]
seeds = "0:30"
steps = 10
inputs = 5
reading = ["text", "release"]
[grid]
columns = [3, 5]
width = [2, 4]
lateral = ["0%", "10%", "50%", "dense"]
"""


def chance() -> random.Random:
    """Random moments; a failing run names its seed, so that it can be repeated with SOAK_SEED."""
    seed = os.environ.get("SOAK_SEED") or str(random.SystemRandom().randrange(2**32))
    print(f"SOAK_SEED={seed}")
    return random.Random(seed)


@dataclass
class Started:
    """A running program."""

    process: subprocess.Popen[bytes]
    output: Path
    mark: str

    @property
    def pid(self) -> int:
        return self.process.pid

    def running(self) -> bool:
        return self.process.poll() is None

    def end(self) -> tuple[int, str]:
        """Exit code and everything it said."""
        self.process.wait(LIMIT)
        return self.process.returncode, self.output.read_text()

    def kill(self) -> None:
        """Kill -9 of the main process, and only of it."""
        self.process.kill()
        self.process.wait(LIMIT)

    def workers(self) -> list[int]:
        """Worker processes of joblib, without its resource tracker."""
        found = []
        for pid in self._marked():
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes()
                if pid != self.pid and b"loky" in words and b"resource_tracker" not in words:
                    found.append(pid)
        return found

    def _marked(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                if entry.name.isdigit() and self.mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found

    def nothing_left(self) -> None:
        """No process that it started lives on for more than a few seconds."""
        wait_for(lambda: not self._marked(), 15, "processes outlived the main one")

    def until_parts(self, folder: "Folder", more: int = 1) -> None:
        """Wait for so many new parts, or for its end."""
        known = set(folder.parts())
        wait_for(lambda: len(set(folder.parts()) - known) >= more or not self.running(), LIMIT, "nothing is published")

    def until_workers(self) -> None:
        """Wait for a worker process, or for its end."""
        wait_for(lambda: bool(self.workers()) or not self.running(), LIMIT, "no worker is started")

    def until_compacting(self, folder: "Folder") -> None:
        """Wait for a compaction to begin its work (most of its life is the start of Python), or for its end."""
        temporary = folder.results / "_tmp"
        wait_for(lambda: any(temporary.glob("generation.*")) or not self.running(), LIMIT, "it does not begin")


def wait_for(condition: Callable[[], bool], seconds: float, otherwise: str) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, otherwise
        time.sleep(0.01)


@dataclass
class Folder:
    """A working folder with a sweep file; results are below it."""

    path: Path
    text: str = TEXT
    unit_seconds: str = "0.0005"
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "soak.toml").write_text(self.text)

    @property
    def results(self) -> Path:
        return self.path / "results" / "soak"

    def parts(self) -> list[Path]:
        return sorted((self.results / "rows").glob("*.parquet"))

    def start(self, *arguments: str, before: Callable[[], None] | None = None) -> Started:
        """`colrun …` in a process group of its own, as a shell starts it."""
        mark = f"soak-{uuid.uuid4()}"
        output = self.path.parent / f"{mark}.txt"  # not a pipe, which would fill up, nor on a disk that is full
        with open(output, "wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "colrun", *arguments],
                cwd=self.path,
                env=os.environ | {"COLRUN_UNIT_SECONDS": self.unit_seconds, "SOAK_MARK": mark} | self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                process_group=0,
                preexec_fn=before,
            )
        return Started(process, output, mark)

    def run(self, *arguments: str) -> tuple[int, str]:
        started = self.start(*arguments)
        try:
            return started.end()
        finally:
            if started.running():
                os.killpg(started.pid, signal.SIGKILL)

    def sweep(self, *arguments: str) -> str:
        """A sweep that must succeed."""
        code, said = self.run("sweep", "soak.toml", *arguments)
        assert code == 0, said
        assert "Traceback" not in said
        return said

    def rows(self) -> pd.DataFrame:
        """What plain pandas reads, checked for duplicates and sorted; empty before the first part."""
        if not self.parts():
            return pd.DataFrame(columns=KEY)
        frame = pd.read_parquet(self.results)
        assert not frame.duplicated(KEY).any(), "a row appears twice"
        return frame.sort_values(KEY, ignore_index=True)

    def same_as(self, truth: pd.DataFrame) -> None:
        """Both ways to read give the table of an undisturbed run, bit by bit, in files that are what was written."""
        exactly(self.rows(), truth)
        exactly(colrun.load(self.results).drop(columns="name").sort_values(KEY, ignore_index=True), truth)
        code, said = self.run("status", "soak.toml", "--verify")
        assert code == 0, said
        assert " 0 failed, 0 missing" in said
        assert "verified" in said

    def within(self, truth: pd.DataFrame) -> None:
        """What is there so far is a part of the table of an undisturbed run, bit by bit."""
        rows = self.rows()
        if len(rows):
            expected = truth.merge(rows[KEY], on=KEY).sort_values(KEY, ignore_index=True)
            exactly(rows, expected)

    def reported(self, fact: str) -> int:
        """Sum over all runs of what they report themselves."""
        return sum(int(json.loads(path.read_text())[fact]) for path in (self.results / "_runs").glob("*.json"))


def exactly(left: pd.DataFrame, right: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(left, right, check_exact=True)


def undisturbed(folder: Folder, *arguments: str) -> pd.DataFrame:
    """The table of a run that nothing happens to."""
    folder.sweep("-j", "1", *arguments)
    return folder.rows()
