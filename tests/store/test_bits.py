"""A resume under other settings of the last digits says so once, and `status --verify` tells the rows apart."""

import pytest

from colrun.store.paths import Paths
from tests.runs import colrun, computed, resume


def test_other_settings_are_said_and_told_apart(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    def status() -> str:
        return colrun("status", "tiny", "--results", paths.sweep.parent, "--verify").stdout

    assert "rows under" not in status()
    assert "last digits may differ" not in resume(paths, "--seeds", "5").stderr
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    again = resume(paths, "--seeds", "6")
    assert computed(again) == 6
    assert again.stderr.count("last digits may differ") == 1
    said = status()
    assert "72 rows under" in said
    assert "12 rows under" in said
    assert "OPENBLAS_CORETYPE=Prescott" in said
    (line,) = [line for line in said.splitlines() if "12 rows under" in line]
    assert "Prescott" in line
