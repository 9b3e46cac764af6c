"""`colrun list`, and what starting the program may import."""

import subprocess
import sys

from click.testing import CliRunner

from colrun.cli import main
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
from click.testing import CliRunner
from colrun.cli import main
for arguments in (["--help"], ["list"], ["list", "--help"]):
    assert CliRunner().invoke(main, arguments).exit_code == 0
heavy = {"torch", "pandas", "seaborn", "matplotlib", "pyarrow"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)
