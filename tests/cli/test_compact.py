"""`colrun compact`."""

from pathlib import Path

import pytest

from tests.runs import bits, colrun, refused

pytestmark = pytest.mark.usefixtures("here")


def test_it_says_how_many(here: Path) -> None:
    before = bits(here / "results" / "tiny")
    assert colrun("compact", "tiny").stdout == "tiny: 2 part(s) → 1\n"
    assert colrun("compact", "sweep.toml").stdout == "tiny: 1 part(s) → 1\n"
    assert bits(here / "results" / "tiny") == before


def test_bad_input() -> None:
    assert "there are no results at no/tiny" in refused("compact", "sweep.toml", "--results", "no")
    assert "Missing argument 'SWEEP...'" in refused("compact")
