"""A figure and a claim that an experiment declares (tests/toy): `list`, `plot`, `claims` and the report show them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from colrun.experiments import EXPERIMENTS
from tests.runs import DECAY, colrun, write
from tests.toy.shown import CLAIMS, FIGURES


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The two tables given to an experiment with rows along time, and a folder without kept results."""
    figures = {name: replace(entry, needs={"tiny-toy": "decay"}) for name, entry in FIGURES.items()}
    monkeypatch.setitem(EXPERIMENTS, "decay", replace(EXPERIMENTS["decay"], figures=figures, claims=CLAIMS))
    monkeypatch.setattr("colrun.store.kept.kept_folders", list)
    monkeypatch.chdir(tmp_path)


def test_nothing_else_names_it() -> None:
    assert "tiny-toy\ta toy's mean value along time\n" in colrun("list", "figures").stdout
    assert "figure tiny-toy has no data in results; run: colrun sweep tiny-toy" in colrun("plot", "tiny-toy").stderr
    before = {line.split("\t")[0]: line.split("\t")[2] for line in colrun("claims").stdout.splitlines()}
    assert list(before)[-1] == "toy-is-positive"
    assert before["toy-is-positive"] == "no data"

    path = write(Path(), {**DECAY, "name": "tiny-toy", "cell": "gru"})
    assert colrun("sweep", path, "-j", 1, "-q").exit_code == 0
    drawn = colrun("plot", "tiny-toy")
    assert (drawn.exit_code, drawn.stdout) == (0, "figures/tiny-toy.png\n")
    found = json.loads(colrun("claims", "--json").stdout)
    rows = {"local": 30, "kept": 0, "others": 0}
    assert found["sources"]["tiny-toy"] == {"folder": "results/tiny-toy", "kept": False, "rows": rows}
    (claim,) = [each for each in found["claims"] if each["claim"] == "toy-is-positive"]
    assert claim["verdict"] == "reproduced"
    assert [(number["n"], number["holds"]) for number in claim["numbers"]] == [(3, True)]
    assert colrun("report").exit_code == 0
    page = Path("report.html").read_text(encoding="utf-8")
    assert 'id="figure-tiny-toy"' in page
    assert 'id="claim-toy-is-positive"' in page
