"""What readers get of a sweep: local and kept rows together, of its present grid and no others."""

from pathlib import Path

import pandas as pd
import pytest

import colrun as library
from colrun.store import kept
from colrun.store.kept import Rows, keep, where_rows
from colrun.store.load import load
from tests.runs import TINY, colrun, refused, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder where all of `tiny` is kept, and three seeds of it were run with one more estimator."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept, "kept_folders", lambda: [Path("results/paper")])
    Path("sweeps").mkdir()
    path = write(Path("sweeps"), TINY, file="tiny.toml")
    assert colrun("sweep", path, "-j", 1, "-q", "--out", "whole").exit_code == 0
    keep("whole", "tiny", "results/paper")
    some = ["--seeds", "0:3", "--estimators", "master-user,tbptt-1"]
    assert colrun("sweep", path, "-j", 1, "-q", *some).exit_code == 0
    return tmp_path


def found(sweep: str = "tiny") -> tuple[pd.DataFrame, Rows]:
    rows = where_rows("results", sweep)
    assert rows is not None
    return rows.load(), rows


def test_kept_rows_stand_in_for_what_was_not_run() -> None:
    frame, rows = found()
    assert frame.groupby("name")["job"].nunique().to_dict() == {"master-user": 30, "tbptt-1": 18, "tbptt-3": 30}
    assert not frame.duplicated(["job", "name"]).any()
    by_source = frame.groupby(["name", "source"]).size().to_dict()
    assert by_source == {
        ("master-user", "local"): 18, ("master-user", "kept"): 12, ("tbptt-1", "local"): 18, ("tbptt-3", "kept"): 30,
    }  # fmt: skip
    assert str(rows) == "tiny: 36 rows from results/tiny and 42 rows from results/paper/tiny (kept results)"
    whole = load("whole/tiny").set_index(["job", "name"])["mae"]
    local = frame[frame["source"] == "local"].set_index(["job", "name"])["mae"]
    shared = local.index.intersection(whole.index)
    assert local[shared].tolist() == whole[shared].tolist(), "in full precision"


def test_rows_that_an_edit_of_the_file_left_behind_are_counted_and_not_taken() -> None:
    write(Path("sweeps"), {**TINY, "columns": [4], "lateral": ["0%", "50%"], "seeds": "0:4"}, file="tiny.toml")
    frame, rows = found()
    assert set(frame["columns"]) == {4}
    assert frame.groupby(["name", "lateral"]).size().to_dict() == {
        (name, level): 4 for name in ("master-user", "tbptt-3") for level in (0.0, 0.5)
    }
    assert str(rows).endswith("other rows there are not of its present grid")
    assert rows.counts["others"] == 36 + 60 - 2 * 3 - 8 * 2
    assert len(library.load("results/tiny")) == 36
    assert len(library.load("results/tiny", of="tiny")) == 6
    assert len(library.load("results/tiny", of="sweeps/tiny.toml")) == 6
    exported = colrun("export", "tiny", "--csv")
    assert len(exported.stdout.splitlines()) == 1 + 6
    assert "30 other rows there are not of its present grid" in exported.stderr


def test_rows_that_options_made_are_of_the_grid_while_the_file_stays() -> None:
    assert colrun("sweep", "tiny", "-j", 1, "-q", "--columns", 5, "--seeds", "7:9").exit_code == 0
    frame, rows = found()
    assert frame.groupby("columns")["seed"].unique().map(sorted).to_dict()[5] == [7, 8]
    assert rows.counts["others"] == 0


def test_rows_of_another_numerics_version_are_not_mixed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from colrun.experiments import EXPERIMENTS

    monkeypatch.setitem(EXPERIMENTS, "alignment", replace(EXPERIMENTS["alignment"], numerics=99))
    assert colrun("sweep", "tiny", "-j", 1, "-q", "--out", "new", "--seeds", "0:2").exit_code == 0
    rows = where_rows("new", "tiny")
    assert rows is not None
    with pytest.warns(UserWarning, match="numerics version 4"):
        frame = rows.load()
    assert set(frame["numerics"]) == {99}
    assert set(frame["source"]) == {"local"}


def test_names_as_one_writes_them() -> None:
    frame = library.load("results/tiny")
    assert set(frame["name"]) == {"master-user", "tbptt-1"}
    assert (frame[frame["name"] == "tbptt-1"]["window"] == 1).all()
    assert "name" not in pd.read_parquet("results/tiny").columns


def test_the_file_that_a_sweep_was_run_from_is_its_file() -> None:
    own = write(Path(), {**TINY, "name": "own", "seeds": "0:2"}, file="own.toml")
    assert colrun("sweep", own, "-j", 1, "-q").exit_code == 0
    write(Path(), {**TINY, "name": "own", "seeds": "0:1"}, file="own.toml")
    assert set(found("own")[0]["seed"]) == {0}
    assert "6 of 6 jobs done" in colrun("status", "own").stdout
    own.unlink()
    assert set(found("own")[0]["seed"]) == {0, 1}, "as its last run had it"


def test_pruning_asks_and_removes_what_is_not_of_the_grid() -> None:
    write(Path("sweeps"), {**TINY, "columns": [4]}, file="tiny.toml")
    declined = colrun("prune", "tiny")  # nobody answers
    assert declined.exit_code == 1
    assert len(library.load("results/tiny")) == 36
    done = colrun("prune", "tiny", "--yes")
    assert done.exit_code == 0
    assert done.stdout == "tiny: 27 rows removed, 9 stay\n"
    left = library.load("results/tiny")
    assert set(left["columns"]) == {4}
    assert set(left["name"]) == {"master-user"}
    assert colrun("prune", "tiny", "--yes").stdout == "tiny: every row is of its present grid\n"
    assert "there are no results at no/tiny" in refused("prune", "tiny", "--results", "no")
