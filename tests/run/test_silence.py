"""What takes long says so, and a sweep has something to keep soon after it has begun."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from colrun.compiling import SAID
from colrun.output import working
from colrun.run import progress, unit, worker
from colrun.run.local import Local
from colrun.run.progress import Progress
from colrun.store.load import load_table
from tests.runs import ROOT, TINY, colrun, write

KERNEL = """
import numba
from colrun import compiling

def double(x):
    return 2 * x

double.__module__ = "colrun.made_up"
kernel = numba.njit(double)
print(kernel(1), kernel(1.5))
"""


def test_compiling_is_said_once() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COLRUN_COMPILE_QUIETLY"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run([sys.executable, "-c", KERNEL], capture_output=True, text=True, check=True, env=environment)
    assert (done.stdout, done.stderr) == ("2 3.0\n", f"{SAID}\n")


def test_compiling_is_said_by_a_sweep(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "compiled", lambda: False)
    with Progress("tiny", 3, quiet=False) as shown:
        shown.begin(by_kernels=True)
        shown.begin(by_kernels=False)
    assert capsys.readouterr().err == "tiny: compiling kernels, once after an install: about half a minute\n"


def test_workers_leave_it_to_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLRUN_COMPILE_QUIETLY", raising=False)
    worker._ready.cache_clear()
    worker._ready()
    assert "COLRUN_COMPILE_QUIETLY" in os.environ


def test_a_terminal_is_told_what_goes_on(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with working() as say:
        say("drawing nothing")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working() as say:
        say("drawing demo")
        time.sleep(0.3)
    assert "drawing demo" in capsys.readouterr().err


def test_the_first_rows_do_not_wait_for_the_whole_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "EARLY_SECONDS", 0.0)
    assert "30 computed" in colrun("sweep", write(tmp_path, TINY), "-j", 1, "--results", tmp_path).stdout
    parts = sorted((tmp_path / "tiny" / "rows").glob("*.parquet"))
    assert len(parts) == 2, "all of it is one unit"
    assert load_table(tmp_path / "tiny").num_rows == 60


_kept: list[object] = []


def _grow(size: int) -> int:
    _kept.append(np.ones(size))
    time.sleep(1.1)  # joblib looks at most once a second
    return os.getpid()


def test_workers_that_keep_memory_are_not_taken_for_leaking() -> None:
    """joblib would end them, with a warning, which here is an error."""
    from joblib import delayed

    pool = Local(2)
    found = list(pool.parallel(False, print)(delayed(_grow)(size) for size in (1, 1, 50_000_000, 50_000_000, 1, 1, 1)))
    pool.stop()
    assert len(set(found)) == 2
