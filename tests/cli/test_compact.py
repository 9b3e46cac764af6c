"""`colrun compact`."""

import shutil
from pathlib import Path

import pytest

from tests.runs import bits, colrun, files, refused

pytestmark = pytest.mark.usefixtures("here")


def test_it_says_how_many(here: Path) -> None:
    before = bits(here / "results" / "tiny")
    assert colrun("compact", "tiny").stdout == "tiny: 2 part(s) → 1\n"
    assert colrun("compact", "sweep.toml").stdout == "tiny: 1 part(s) → 1\n"
    assert bits(here / "results" / "tiny") == before


def test_bad_input() -> None:
    assert "there are no results at no/tiny" in refused("compact", "sweep.toml", "--results", "no")
    assert "Missing argument 'SWEEP...'" in refused("compact")


def test_results_that_were_copied_without_links_are_refused(here: Path) -> None:
    shutil.copytree(here / "results", here / "copy", symlinks=False)
    before = files(here)
    result = colrun("compact", "tiny", "--results", "copy")
    assert result.exit_code == 1
    assert "copied without their links" in result.stderr
    assert files(here) == before


def test_a_typo_in_the_sweep_file_does_not_matter(here: Path) -> None:
    (here / "sweeps").mkdir()
    (here / "sweeps" / "tiny.toml").write_text("colums = 3")
    assert colrun("compact", "tiny").stdout == "tiny: 2 part(s) → 1\n"
    assert colrun("export", "tiny", "--csv").exit_code == 0
