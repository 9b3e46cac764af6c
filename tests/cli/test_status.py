"""`colrun status`."""

import re
from pathlib import Path

import pytest

from tests.runs import colrun, refused

pytestmark = pytest.mark.usefixtures("here")


def test_by_name_by_file_and_all() -> None:
    line = r"tiny: 24 of 30 jobs done, 0 failed, 6 missing, [0-9]+ diverged; 48 rows in 2 part\(s\); about 0 s left on"
    for arguments in ([], ["tiny"], ["sweep.toml"]):
        result = colrun("status", *arguments)
        assert result.exit_code == 0
        assert re.match(line, result.stdout), result.stdout
        assert "\x1b" not in result.output


def test_options_replace_what_the_file_says() -> None:
    assert "24 of 24 jobs done" in colrun("status", "tiny", "--seeds", "0:4").stdout


def test_after_adding_an_estimator_what_is_left_is_counted(here: Path) -> None:
    text = (here / "sweep.toml").read_text().replace('"tbptt-3"', '"tbptt-3", "tbptt-1"')
    (here / "sweep.toml").write_text(text)
    status = colrun("status", "sweep.toml").stdout
    assert status.startswith("tiny: 0 of 30 jobs done (48 of 90 results), 0 failed, 30 missing")
    planned = colrun("sweep", "sweep.toml", "--dry-run").stdout
    assert "  done      0 (48 of 90 results)\n" in planned
    assert "  to run    30, 42 results of them\n" in planned


def test_verify() -> None:
    result = colrun("status", "--verify")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1] == "  verified: every row is what was written"


def test_of_a_sweep_whose_file_is_gone(here: Path) -> None:
    (here / "sweep.toml").unlink()
    assert "24 of 30 jobs done" in colrun("status", "tiny").stdout


def test_before_any_run() -> None:
    assert "0 of 30 jobs done, 0 failed, 30 missing" in colrun("status", "sweep.toml", "--results", "no").stdout
    assert colrun("status", "--results", "no").stdout == "no results in no; start with: colrun sweep demo\n"


def test_bad_input() -> None:
    assert refused("status", "tinny").startswith("Error: sweep 'tinny' is not known")


def test_one_sweep_that_cannot_be_shown_hides_no_other(here: Path) -> None:
    (here / "results" / "aaa" / "_runs").mkdir(parents=True)
    (here / "tiny").write_text("junk")  # a file by the name of a sweep is no sweep file
    result = colrun("status")
    assert result.exit_code == 1
    assert "aaa: results/aaa has no readable run" in result.stdout
    assert "tiny: 24 of 30 jobs done" in result.stdout
    assert "results/aaa has no readable run" in refused("status", "aaa")


def test_a_bad_option_is_named_also_where_the_file_is_gone(here: Path) -> None:
    (here / "sweep.toml").unlink()
    assert "columns is '0'" in refused("status", "tiny", "--columns", "0")
    assert "lateral level 'abc' must be" in refused("job", "tiny", "--list", "--lateral", "abc")


def test_a_sweep_that_options_made_is_described_by_them() -> None:
    made = colrun("sweep", "sweep.toml", "--name", "other", "--columns", "5", "--width", "3", "-j", 1, "--seeds", "0:2")
    assert made.exit_code == 0
    result = colrun("status", "other")
    assert "other: 6 of 15 jobs done, 0 failed, 9 missing" in result.stdout, "seeds are those of the file"
    assert colrun("status", "other", "--seeds", "0:2").stdout.startswith("other: 6 of 6 jobs done")
