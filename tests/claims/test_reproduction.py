"""docs/reproduction.md states what `colrun claims` says of the kept results."""

from pathlib import Path

import pytest

from colrun.claims.judge import sources
from tests.reproduction import table, written


def test_the_table_is_that_of_the_kept_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # whatever has been run here
    if not sources(tmp_path):
        pytest.skip("no results are kept in results/paper yet; `make paper` keeps them")
    assert written() == table(tmp_path), "write it again: python -m tests.reproduction results/paper"
