"""`colrun export`."""

import csv
import io
from pathlib import Path

import pytest

from colrun.store.load import load
from tests.runs import colrun, refused

pytestmark = pytest.mark.usefixtures("here")


def test_csv(here: Path) -> None:
    text = colrun("export", "tiny", "--csv").stdout
    frame = load(here / "results" / "tiny")
    head, *rows = csv.reader(io.StringIO(text))
    assert head == list(frame.columns)
    assert len(rows) == 48
    assert [float(row[head.index("mae")]) for row in rows] == frame["mae"].tolist()
    assert [row[head.index("step_size")] for row in rows] == [""] * 48
    assert colrun("export", "tiny", "--csv", "-o", "rows.csv").stdout == ""
    assert (here / "rows.csv").read_text() == text


def test_bad_input() -> None:
    assert refused("export", "tiny") == "Error: say which format: --csv."
    assert "there are no results at no/tiny" in refused("export", "sweep.toml", "--csv", "--results", "no")
    assert "it is a folder" in refused("export", "tiny", "--csv", "-o", "results")
    assert "it is a folder" in refused("export", "tiny", "--csv", "-o", "/")
    assert "cannot write no/such/place" in refused("export", "tiny", "--csv", "-o", "no/such/place")
