"""Parts from before a column was there: read with it, and brought up to date before new ones are published."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from colrun.errors import StoreError
from colrun.experiments import get_experiment
from colrun.store import compact as compaction
from colrun.store.compact import ChangedMeanwhileError, bring_up_to_date
from colrun.store.index import read_done
from colrun.store.load import load
from colrun.store.parts import encode, full_schema, read_part
from colrun.store.paths import Paths, claim
from tests.runs import bits, colrun, computed, resume, snapshot

LATER = ["estimator_numerics", "task"]
KEPT = Path(__file__).parents[2] / "results" / "paper"
NAMES = full_schema(get_experiment("alignment")).names


@pytest.fixture
def older(paths: Paths) -> Paths:
    """Rows as version 0.1 wrote them."""
    for path in paths.parts():
        table, index = read_part(path)
        path.write_bytes(encode(table.drop_columns(LATER), index))
    assert not set(LATER) & set(pd.read_parquet(paths.sweep).columns)
    return paths


def test_they_are_read_as_if_they_had_it(older: Paths) -> None:
    frame = load(older.sweep)
    assert [name for name in frame.columns if name != "name"] == NAMES
    assert (set(frame["task"]), set(frame["estimator_numerics"])) == ({"random"}, {1})
    before = snapshot(older.sweep)
    assert computed(resume(older)) == 0
    assert snapshot(older.sweep) == before


def test_kept_rows_are_read_so_too() -> None:
    for sweep in ("estimators", "grouping", "cost"):
        frame = load(KEPT / sweep)
        assert set(frame["task"]) == {"random"}
        assert set(frame[frame["estimator"] != "snap"]["estimator_numerics"]) == {1}
    assert "task" not in load(KEPT / "state-decay")


@pytest.mark.parametrize("how", ["sweep", "job", "merge"])
def test_pandas_sees_every_column_of_every_row(older: Paths, tmp_path: Path, how: str) -> None:
    before = bits(older.sweep)
    sweep = older.sweep.parents[1] / "sweep.toml"
    more = ["--seeds", "0:7"]
    if how == "sweep":
        assert computed(resume(older, *more)) == 12
    elif how == "job":
        ids = colrun("job", sweep, "--list", "--results", older.sweep.parent, *more).stdout.split()
        assert colrun("job", sweep, *ids, "--results", older.sweep.parent, *more).exit_code == 0
    else:
        assert computed(colrun("sweep", sweep, "-j", 1, "--out", tmp_path / "more", "--seeds", "5:7")) == 12
        assert colrun("merge", tmp_path / "more", "--out", older.sweep.parent).exit_code == 0
    assert read_done(older, verify=True).older == 0
    frame = pd.read_parquet(older.sweep)
    assert frame.columns.tolist() == NAMES
    assert len(frame) == 84
    assert (set(frame["task"]), set(frame["estimator_numerics"])) == ({"random"}, {1})
    assert before.items() <= bits(older.sweep).items()
    assert computed(resume(older, *more)) == 0


def test_old_parts_of_another_machine_are_merged_with_the_columns(older: Paths, tmp_path: Path) -> None:
    assert colrun("merge", older.sweep.parent, "--out", tmp_path / "joined").exit_code == 0
    assert pd.read_parquet(tmp_path / "joined" / "tiny").columns.tolist() == NAMES


def test_a_process_that_is_killed_on_the_way_leaves_the_rows_as_they_were(
    older: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bits(older.sweep)

    def killed(*_: object) -> bool:
        raise KeyboardInterrupt

    def sealed_and_killed(*arguments: Any) -> bool:
        assert claim(*arguments)
        raise KeyboardInterrupt

    for step, death in (("_fill", killed), ("claim", killed), ("claim", sealed_and_killed)):
        with monkeypatch.context() as patch:
            patch.setattr(compaction, step, death)
            with pytest.raises(KeyboardInterrupt):
                bring_up_to_date(older)
        assert bits(older.sweep) == before
        assert read_done(older).older == 5
    bring_up_to_date(older)
    assert read_done(older, verify=True).older == 0
    assert bits(older.sweep) == before
    assert len(older.parts()) == 1


def test_of_two_at_once_one_gives_way(older: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    before, whole = bits(older.sweep), compaction.compact
    tried = []

    def second(paths: Paths, gone: Collection[str], anew: bool) -> object:
        tried.append(anew)
        whole(paths, gone, anew)  # by another process, a moment earlier
        raise ChangedMeanwhileError

    monkeypatch.setattr(compaction, "compact", second)
    bring_up_to_date(older)
    assert tried == [True]
    assert bits(older.sweep) == before
    assert len(os.listdir(older.generations)) == 1


def test_it_does_not_try_for_ever(older: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(*_: object, **__: object) -> None:
        raise ChangedMeanwhileError

    monkeypatch.setattr(compaction, "compact", changed)
    monkeypatch.setattr(compaction, "ATTEMPTS", 3)
    with pytest.raises(StoreError, match="3 times in a row another process was faster"):
        bring_up_to_date(older)


def test_a_folder_without_rows_is_up_to_date(tmp_path: Path) -> None:
    bring_up_to_date(Paths.of(tmp_path, "nothing"))
    assert not (tmp_path / "nothing").exists()
