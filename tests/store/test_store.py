"""A sweep's folder: reading it, and where its rows are from."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import colrun as package
from colrun import experiments
from colrun.store.compact import compact
from colrun.store.index import read_done
from colrun.store.load import load
from colrun.store.parts import read_index
from colrun.store.paths import Paths
from tests.runs import DECAY, TINY, bits, colrun, computed, resume, snapshot, write


def by_pandas(folder: Path) -> pd.DataFrame:
    frame = pd.read_parquet(folder)
    return frame.sort_values(["job", "estimator"]).reset_index(drop=True)


def by_load(folder: Path) -> pd.DataFrame:
    return package.load(folder).drop(columns="name").sort_values(["job", "estimator"]).reset_index(drop=True)


def test_load_and_pandas_give_every_row_once_compacted_or_not(paths: Paths) -> None:
    before = by_load(paths.sweep)
    assert len(before) == 60
    assert not before.duplicated(["job", "estimator", "window"]).any()
    pd.testing.assert_frame_equal(by_pandas(paths.sweep), before, check_exact=True)
    assert compact(paths) == (5, 1, [])
    pd.testing.assert_frame_equal(by_load(paths.sweep), before, check_exact=True)
    pd.testing.assert_frame_equal(by_pandas(paths.sweep), before, check_exact=True)


@pytest.mark.parametrize("together", [1, 2, 1000])
def test_load_joins_parts_some_at_a_time(paths: Paths, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    assert len(paths.parts()) > 2
    wanted = load(paths.sweep)
    monkeypatch.setattr("colrun.store.join.TOGETHER", together)
    pd.testing.assert_frame_equal(load(paths.sweep), wanted, check_exact=True)


def test_load_is_in_a_fixed_order(paths: Paths) -> None:
    before = load(paths.sweep)
    compact(paths)
    pd.testing.assert_frame_equal(load(paths.sweep), before, check_exact=True)


def test_the_two_readers_agree_on_decay(tmp_path: Path) -> None:
    colrun("sweep", write(tmp_path, DECAY), "-j", 1, "--out", tmp_path)
    keys = ["job", "step", "quantity"]
    ours = load(tmp_path / "fading").sort_values(keys).reset_index(drop=True)
    theirs = pd.read_parquet(tmp_path / "fading").sort_values(keys).reset_index(drop=True)
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_columns_hold_what_the_contract_says(paths: Paths) -> None:
    frame = load(paths.sweep)
    assert set(frame["sweep"]) == {"tiny"}
    assert set(frame["lateral"]) == {0.0, 0.5, 2.0, 3.0}  # dense is C-1
    assert frame["step_size"].isna().all()
    assert set(frame["estimator"]) == {"master-user", "tbptt"}
    assert set(frame[frame["estimator"] == "tbptt"]["window"]) == {3}
    assert frame[frame["estimator"] == "master-user"]["window"].isna().all()
    dense = frame[frame["lateral"] == frame["columns"] - 1]
    assert (dense["lateral_weights"] == dense["columns"] * (dense["columns"] - 1) * dense["width"]).all()
    assert (frame[frame["lateral"] == 0]["lateral_weights"] == 0).all()
    assert (frame["job"].str.rpartition(".")[2].astype(int) == frame["seed"]).all()


def test_provenance(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    colrun("sweep", path, "-j", 1, "--out", tmp_path / "out")
    paths = Paths.of(tmp_path / "out", "tiny")
    (file,) = paths.runs.iterdir()
    facts = json.loads(file.read_text())
    assert facts["sweep_file"] == path.read_text()
    assert facts["colrun"] == package.__version__
    assert facts["experiment"] == "alignment"
    assert facts["numerics"] == experiments.EXPERIMENTS["alignment"].numerics
    assert {"torch", "numpy", "pandas", "pyarrow"} <= facts["packages"].keys()
    assert facts["cpu"]
    assert facts["host"]
    assert facts["started"] <= facts["finished"]
    assert (facts["computed"], facts["failed"], facts["diverged"]) == (30, 0, 0)
    assert {"commit", "clean", "python", "system", "cores", "command"} <= facts.keys()
    assert read_done(paths).parts == 1
    assert read_index(paths.parts()[0]).run == facts["run"] == file.stem


def test_a_run_with_nothing_to_do_leaves_no_trace(paths: Paths) -> None:
    before = snapshot(paths.sweep)
    assert computed(resume(paths)) == 0
    assert snapshot(paths.sweep) == before


def test_results_can_be_moved(paths: Paths, tmp_path: Path) -> None:
    before = bits(paths.sweep)
    shutil.move(paths.sweep, tmp_path / "elsewhere")
    assert bits(tmp_path / "elsewhere") == before


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there are no results at .*nothing; run `colrun sweep` first"):
        load(tmp_path / "nothing")


def test_a_read_only_or_impossible_folder_is_said_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path / "file")
    assert result.exit_code == 1
    assert "cannot write below" in result.stderr
    assert "Traceback" not in result.stderr
