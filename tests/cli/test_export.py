"""`colrun export`."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from colrun.store.load import load
from tests.runs import ROOT, TINY, colrun, refused, write

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


def test_formats(here: Path) -> None:
    frame = load(here / "results" / "tiny")
    assert colrun("export", "tiny", "--format", "parquet", "-o", "rows.parquet").exit_code == 0
    pd.testing.assert_frame_equal(pd.read_parquet("rows.parquet"), frame)
    rows = json.loads(colrun("export", "tiny", "--format", "json").stdout)
    assert [row["name"] for row in rows] == frame["name"].tolist()
    assert colrun("export", "tiny", "--format", "csv").stdout == colrun("export", "tiny", "--csv").stdout


def test_bad_input() -> None:
    assert refused("export", "tiny") == "Error: say which format: --format csv, parquet, json."
    assert "Parquet is for a file" in refused("export", "tiny", "--format", "parquet")
    assert "there are no results at no/tiny" in refused("export", "sweep.toml", "--csv", "--results", "no")
    assert "it is a folder" in refused("export", "tiny", "--csv", "-o", "results")
    assert "it is a folder" in refused("export", "tiny", "--csv", "-o", "/")
    assert "cannot write no/such/place" in refused("export", "tiny", "--csv", "-o", "no/such/place")
    (Path("a-file")).touch()
    assert "cannot write a-file/x.csv: Not a directory" in refused("export", "tiny", "--csv", "-o", "a-file/x.csv")


def test_a_broken_part_is_named_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    assert colrun("sweep", path, "-j", 1, "--out", tmp_path).exit_code == 0
    (part,) = (tmp_path / "tiny" / "rows").glob("*.parquet")
    part.write_bytes(b"nothing")
    done = subprocess.run(
        [sys.executable, "-m", "colrun", "export", "tiny", "--csv", "--results", str(tmp_path)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"warning: {part.resolve()}: is cut short, or no Parquet file; its rows are left out.")
    assert done.returncode == 1
