"""`colrun claims`, on real results of tiny networks and on none."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from colrun.claims import known_claims
from colrun.claims.judge import judge
from colrun.claims.show import amount, show
from tests.claims.cases import ablation, gru, rnn, sound
from tests.claims.tables import diverging
from tests.runs import DECAY, colrun, write


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the kept results of the repository."""
    monkeypatch.setattr("colrun.store.kept.kept_folders", list)


@pytest.mark.usefixtures("alone")
def test_nothing_there_is_no_error(tmp_path: Path) -> None:
    result = colrun("claims", "--results", tmp_path)
    assert result.exit_code == 0
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert [line[0] for line in lines if line[1] != "release"] == list(known_claims())
    assert {line[2] for line in lines} == {"no data"}
    assert "start with: colrun sweep rnn-alignment" in result.stderr


@pytest.mark.usefixtures("alone")
def test_results_that_were_run(tmp_path: Path) -> None:
    path = write(tmp_path, {**DECAY, "name": "state-decay", "steps": 20, "bias": [True, False]})
    assert colrun("sweep", path, "-j", 1, "-q", "--out", tmp_path).exit_code == 0
    result = colrun("claims", "--results", tmp_path, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    rows = {"local": 756, "kept": 0, "others": 0}
    assert found["sources"] == {"state-decay": {"folder": str(tmp_path / "state-decay"), "kept": False, "rows": rows}}
    claims = {(one["claim"], one["reading"]): one for one in found["claims"]}
    fast = claims["decay-fast", None]
    assert fast["verdict"] in ("reproduced", "not reproduced")
    assert len(fast["numbers"]) == 8  # two cells, two sizes, two times
    assert all(number["n"] == 3 and number["error"] > 0 for number in fast["numbers"])
    assert fast["notes"] == ["state-decay: n = 3 of 100 networks in the smallest group"]
    assert claims["linear-cost", None]["verdict"] == "no data"
    assert str(tmp_path / "state-decay") in colrun("claims", "--results", tmp_path).stderr


@pytest.mark.parametrize("width", [40, 80, 120])
def test_table_fits_the_terminal(width: int) -> None:
    judged = list(judge(rnn() | gru(sound) | {"meta-ablation": diverging(ablation()["meta-ablation"], 0.5)}))
    console = Console(width=width, record=True, file=io.StringIO())
    show(judged, console)
    text = console.export_text()
    assert max(len(line) for line in text.splitlines()) <= width
    flat = " ".join(text.replace("│", " ").split())
    for claim in known_claims():
        assert claim in flat or width == 40
    for word in ("reproduced", "not reproduced", "diverged", "no data"):
        assert word in flat


def test_amounts_are_as_precise_as_their_error() -> None:
    assert amount(0.95312, 0.00124, "%") == "95.31 ± 0.12 %"
    assert amount(0.123456, 0.02, "points") == "12.3 ± 2.0 points"
    assert amount(1.4812, 0.031, "") == "1.481 ± 0.031"
    assert amount(1.0, 0.0, "%") == "100.0 ± 0.0 %"
    assert amount(0.43, float("nan"), "%") == "43 %"
    assert amount(4.93e-7, float("nan"), "") == "4.93e-07"
    assert amount(float("nan"), float("nan"), "%") == "–"
