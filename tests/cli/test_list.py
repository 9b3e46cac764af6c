"""`colrun list`, and what starting the program may import."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from colrun.cli import main
from colrun.cli.list_ import lines, sections
from colrun.estimators import ESTIMATORS
from colrun.networks.cells import CELLS


def test_lists_everything() -> None:
    result = CliRunner().invoke(main, ["list"])
    assert result.exit_code == 0
    for name in [*ESTIMATORS, *CELLS, "text", "release"]:
        assert f"  {name}" in result.output
    assert "tbptt-block-k" in result.output


def test_one_kind_pipes_well() -> None:
    result = CliRunner().invoke(main, ["list", "cells"])
    assert [line.split("\t")[0] for line in result.output.splitlines()] == list(CELLS)


def test_an_unknown_kind_is_refused() -> None:
    result = CliRunner().invoke(main, ["list", "colours"])
    assert result.exit_code == 2
    assert "'colours' is not one of 'estimators', 'cells', 'readings'" in result.output


def test_help_and_list_import_no_torch() -> None:
    code = """
import sys
import pytest
from click.testing import CliRunner
from colrun.cli import main
from colrun.cli.list_ import lines, sections
for arguments in (["--help"], ["list"], ["list", "--help"]):
    assert CliRunner().invoke(main, arguments).exit_code == 0
heavy = {"torch", "pandas", "seaborn", "matplotlib", "pyarrow"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("room", [40, 60, 80, 200])
def test_lines_fit_a_terminal(room: int) -> None:
    told = list(lines(sections(), room))
    assert all(len(line) <= max(room, 60) for line in told)
    assert " ".join(" ".join(told).split()).count("master-user") >= 2
    beside = [line for line in told if line.startswith("  tbptt-k  ")]
    assert bool(beside) == (room >= 80)
