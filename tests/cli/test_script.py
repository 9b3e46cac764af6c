"""`colrun script`."""

import stat
from pathlib import Path

from tests.runs import TINY, colrun, files, write


def test_it_writes_an_executable_file(tmp_path: Path) -> None:
    """tests/cluster runs it with the real GNU Parallel."""
    path = write(tmp_path, TINY)
    result = colrun("script", "parallel", path, "--seeds", "0:3", "-o", tmp_path / "run.sh")
    assert result.exit_code == 0
    assert result.output == ""
    assert (tmp_path / "run.sh").stat().st_mode & stat.S_IXUSR
    assert (tmp_path / "run.sh").read_text() == colrun("script", "parallel", path, "--seeds", "0:3").stdout


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
