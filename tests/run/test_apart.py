"""A plug-in's mistakes are its own: the rows of colrun's estimators are the same with and without it."""

import os
from pathlib import Path

import pytest

from tests.runs import TINY, bits, colrun, real, write

HEAD = """
import os, signal, sys, time
import numpy as np
from colrun.engine.forms import FastForm


class Bad(FastForm):
    crosses = False

    def credits(self, run, windows):
        {does}
        return [np.zeros_like(run.s[:, 1:])] * len(windows)


ESTIMATORS = {{"bad": Bad()}}
"""
HARMLESS = {
    "in place": "run.h[:] = 0; run.s[:] = 1; run.J[:] = 0; run.w[:] = 3; run.batch.layers.w[:] = 9",
    "chdir": "os.chdir('/')",
    "output": "print('noise'); os.write(1, b'noise')",
    "environment": "np.seterr(all='raise'); np.random.seed(0)",
    "fork": "os.fork() or os._exit(0)",
}
FATAL = {
    "exit 0": ("sys.exit(0)", "SystemExit: 0"),
    "exit at once": ("os._exit(0)", "its process ended before it gave rows: exit code 0"),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
    "raise": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
}


def plugin(folder: Path, does: str) -> Path:
    path = folder / "bad.py"
    path.write_text(HEAD.format(does=does))
    return path


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[object, ...], dict[str, object]]:
    folder = tmp_path_factory.mktemp("clean")
    colrun("sweep", write(folder, TINY), "-j", 1, "--out", folder)
    return bits(folder / "tiny")


def own(folder: Path) -> dict[tuple[object, ...], dict[str, object]]:
    return {key: row for key, row in bits(folder).items() if key[1] != "bad"}


@pytest.mark.parametrize("what", HARMLESS)
def test_own_rows_are_the_same_bits(tmp_path: Path, clean: object, what: str) -> None:
    here = Path.cwd()
    file = plugin(tmp_path, HARMLESS[what])
    names = "bad,master-user,tbptt-3"
    said = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path, "--plugin", file, "--estimators", names)
    assert said.exit_code == 0, said.output
    assert own(tmp_path / "tiny") == clean
    assert len(bits(tmp_path / "tiny")) == 90
    assert "noise" not in said.stdout
    assert Path.cwd() == here


@pytest.mark.parametrize("what", FATAL)
def test_whatever_ends_it_is_a_failure_of_that_job(tmp_path: Path, clean: object, what: str) -> None:
    """Under -j 1, where the work is in the main process: nothing but the plug-in's own rows is missing."""
    does, reason = FATAL[what]
    file, names = plugin(tmp_path, does), "bad,master-user,tbptt-3"
    said = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path, "--plugin", file, "--estimators", names)
    assert said.exit_code == 1, said.output
    assert "30 failed" in said.stdout
    assert own(tmp_path / "tiny") == clean
    assert reason in colrun("status", "tiny", "--results", tmp_path, "--plugin", file).stdout


def test_an_exit_while_it_is_imported_is_no_success(tmp_path: Path) -> None:
    file = plugin(tmp_path, "pass")
    file.write_text("import sys\nsys.exit(0)\n" + file.read_text())
    said = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path, "--plugin", file, "--estimators", "bad")
    assert said.exit_code == 2
    assert "cannot be imported: SystemExit: 0" in said.stderr


def test_a_hanging_job_is_ended(tmp_path: Path) -> None:
    file = plugin(tmp_path, "time.sleep(1000)")
    options = ("--plugin", file, "--estimators", "bad,master-user", "--seeds", 0, "--columns", 3, "--lateral", "0%")
    said = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path, *options, "--job-timeout", 2)
    assert said.exit_code == 1
    assert "longer than --job-timeout" in colrun("status", "tiny", "--results", tmp_path, "--plugin", file).stdout
    assert len(bits(tmp_path / "tiny")) == 1


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the size of a process is read from /proc")
def test_a_job_over_its_memory_fails(tmp_path: Path) -> None:
    file = plugin(tmp_path, "np.ones((1 << 28,)).sum()")
    path = write(tmp_path, TINY)
    options = ("--plugin", file, "--estimators", "bad,master-user", "--seeds", 0, "--columns", 3, "--lateral", "0%")
    said = real("sweep", path, "-j", 1, "--out", tmp_path, *options, "--job-memory", 500)
    assert said.returncode == 1, said.stderr
    assert "MemoryError" in colrun("status", "tiny", "--results", tmp_path, "--plugin", file).stdout
    assert len(bits(tmp_path / "tiny")) == 1


@pytest.mark.parametrize("value", ["nan", "inf", "0", "-1"])
def test_a_limit_is_a_time(tmp_path: Path, value: str) -> None:
    said = colrun("sweep", write(tmp_path, TINY), "--job-timeout", value)
    assert said.exit_code == 2
