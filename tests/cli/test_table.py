"""`colrun table`."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from colrun.store import kept
from colrun.store.load import load
from tests.runs import DECAY, colrun, refused, write


@pytest.fixture(autouse=True)
def alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "kept_folders", list)
    return here


def test_mean_error_and_number_by_all_that_varies(here: Path) -> None:
    result = colrun("table", "tiny")
    table = pd.read_csv(io.StringIO(result.stdout), sep="\t")
    assert list(table.columns) == [
        "columns", "lateral", "name", "alignment", "alignment_se", "cosine", "cosine_se", "mae", "mae_se", "n",
        "diverged",
    ]  # fmt: skip
    frame = load(here / "results" / "tiny")
    for row in table.to_dict("records"):
        own = frame[(frame["columns"] == row["columns"]) & (frame["lateral"] == row["lateral"])]
        own = own[own["name"] == row["name"]]
        good = own[~own["diverged"]]
        assert row["n"] == len(good)
        assert row["mae"] == pytest.approx(good["mae"].mean())
        assert row["mae_se"] == pytest.approx(good["mae"].std() / len(good) ** 0.5)
    assert result.stderr == "tiny: 48 rows from results/tiny\n"


def test_what_is_averaged_over_is_said() -> None:
    result = colrun("table", "sweep.toml", "--by", "lateral,estimator", "--metric", "alignment", "--json")
    lines = json.loads(result.stdout)
    assert {(line["lateral"], line["estimator"], line["n"]) for line in lines} >= {(0.0, "tbptt-3", 8)}
    assert "each line is a mean over several values of columns" in result.stderr


def test_forms() -> None:
    asked = ["table", "tiny", "--by", "lateral,name", "--metric", "alignment"]
    assert colrun(*asked, "--csv").stdout.splitlines()[0] == "lateral,name,alignment,alignment_se,n,diverged"
    markdown = colrun(*asked, "--markdown").stdout.splitlines()
    assert markdown[:2] == ["| lateral | name | alignment | n |", "|---|---|---|---|"]
    assert markdown[2].startswith("| 0% | master-user | 100.0 ± 0.0 % | 8 |")
    latex = colrun(*asked, "--latex").stdout
    assert latex.startswith("\\begin{tabular}{llrr}\nlateral & name & alignment & n \\\\\n\\hline\n")
    assert "0\\% & master-user & 100.0 $\\pm$ 0.0 \\% & 8 \\\\" in latex


def test_of_an_experiment_without_estimators(here: Path) -> None:
    assert colrun("sweep", write(here, DECAY, file="fading.toml"), "-j", 1, "-q").exit_code == 0
    head = colrun("table", "fading").stdout.splitlines()[0].split("\t")
    assert head == ["cell", "hidden", "step", "quantity", "value", "value_se", "n", "diverged"]


def test_bad_input() -> None:
    assert "column 'colums' is not known" in refused("table", "tiny", "--by", "colums")
    assert "Did you mean 'alignment'?" in refused("table", "tiny", "--metric", "alignmet")
    assert "sweep tiny has no rows in no" in refused("table", "sweep.toml", "--results", "no")
    assert "sweep 'tinny' is not known" in refused("table", "tinny")
