"""`colrun script`."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import ROOT, TINY, bits, colrun, files, write

STAND_IN = """
import subprocess, sys
words = sys.argv[1:]
assert words[:1] == ["--quote"] and words[1:5] == ["--jobs", "2", "--halt", "never"], words
assert words[-1] == "{}"
codes = [subprocess.run([*words[5:-1], line.rstrip("\\n")]).returncode for line in sys.stdin]
sys.exit(min(101, sum(code != 0 for code in codes)))
"""
"""As GNU Parallel with --quote: every word of the command as it stands, one argument per line."""


def programs(folder: Path) -> dict[str, str]:
    """An environment with `colrun`, and `parallel` where GNU Parallel is not installed."""
    folder.mkdir()
    wanted = {"colrun": f'#!/bin/sh\nexec {sys.executable} -m colrun "$@"\n'}
    if shutil.which("parallel") is None:
        wanted["parallel"] = f"#!{sys.executable}\n{STAND_IN}"
    for name, text in wanted.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "JOBS": "2"}


@pytest.mark.parametrize("name", ["sweep.toml", "it's a; touch escaped $(touch escaped).toml"])
def test_the_script_runs_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TINY, file=name)
    colrun("sweep", name, "-j", 1, "--out", "direct", "--seeds", "0:3")
    result = colrun("script", "parallel", name, "--results", "out put", "--seeds", "0:3", "-o", "run.sh")
    assert result.exit_code == 0
    assert result.output == ""
    assert (tmp_path / "run.sh").stat().st_mode & stat.S_IXUSR
    environment = programs(tmp_path / "bin")
    done = subprocess.run(["./run.sh"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "tiny: 18 job(s), 0 done before, 0 failed" in done.stdout
    assert bits(tmp_path / "out put" / "tiny") == bits(tmp_path / "direct" / "tiny")
    assert not (tmp_path / "escaped").exists()


def test_it_prints_one_line_per_unit(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    lines = colrun("script", "parallel", path).stdout.splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[-1] == "UNITS"
    (unit,) = lines[lines.index(next(line for line in lines if line.endswith("<<'UNITS'"))) + 1 : -1]
    assert [part.split(".")[1] for part in unit.split("/")] == ["0:5"] * 6


def test_bad_input(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    cases: list[tuple[list[object], str]] = [
        (["slurmm", path], "'slurmm' is not"),
        (["parallel", "gone"], "sweep 'gone' is not known"),
        (["parallel", path, "--columns", "0", "-o", tmp_path / "x.sh"], "columns is '0'; it must be"),
        (["parallel", path, "-o", tmp_path / "no" / "x.sh"], "No such file or directory"),
        (["parallel", path, "-o", tmp_path], "Is a directory"),
    ]
    for arguments, message in cases:
        result = colrun("script", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert files(tmp_path) == ["sweep.toml"]
