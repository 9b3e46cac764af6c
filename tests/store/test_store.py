"""A sweep's folder: reading, broken parts, compaction, stale rows, provenance."""

import json
import os
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import colrun as package
from colrun import experiments
from colrun.store import compact as compaction
from colrun.store.compact import compact
from colrun.store.generations import tidy
from colrun.store.index import read_done
from colrun.store.load import BrokenPartWarning, StaleRowsWarning, load
from colrun.store.paths import Paths
from tests.runs import DECAY, TINY, bits, colrun, computed, write


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of 30 jobs in five parts."""
    folder = tmp_path_factory.mktemp("made")
    path = write(folder, TINY)
    for seed in range(5):
        assert colrun("sweep", path, "-j", 1, "--seeds", seed, "--out", folder / "out").exit_code == 0
    return folder


@pytest.fixture
def paths(tmp_path: Path, made: Path) -> Paths:
    """A copy of it to play with."""
    shutil.copytree(made, tmp_path / "copy", symlinks=True)
    found = Paths.of(tmp_path / "copy" / "out", "tiny")
    assert len(found.parts()) == 5
    return found


def resume(paths: Paths, *options: object) -> Any:
    return colrun("sweep", paths.sweep.parents[1] / "sweep.toml", "-j", 1, "--out", paths.sweep.parent, *options)


def by_pandas(folder: Path) -> pd.DataFrame:
    frame = pd.read_parquet(folder)
    return frame.sort_values(["job", "estimator"]).reset_index(drop=True)


def by_load(folder: Path) -> pd.DataFrame:
    return package.load(folder).sort_values(["job", "estimator"]).reset_index(drop=True)


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
    monkeypatch.setattr("colrun.store.load.TOGETHER", together)
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


def test_compaction_is_idempotent_and_keeps_what_is_done(paths: Paths) -> None:
    before, done = bits(paths.sweep), read_done(paths)
    assert compact(paths) == (5, 1, [])
    part = paths.parts()[0].read_bytes()
    assert compact(paths) == (1, 1, [])
    assert paths.parts()[0].read_bytes() == part
    assert bits(paths.sweep) == before
    after = read_done(paths, verify=True)
    assert after.jobs == done.jobs
    assert (after.rows, after.diverged) == (done.rows, done.diverged)
    assert after.seconds == pytest.approx(done.seconds)
    assert len(list(paths.generations.iterdir())) == 1
    assert computed(resume(paths)) == 0
    # A later run adds a part, and compaction takes it in.
    assert computed(resume(paths, "--seeds", "0:7")) == 12
    assert compact(paths) == (2, 1, [])
    assert before.items() <= bits(paths.sweep).items()
    assert len(bits(paths.sweep)) == 84


def test_compaction_into_several_files(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    before, done = bits(paths.sweep), read_done(paths).jobs
    monkeypatch.setattr(compaction, "ROWS_PER_FILE", 7)
    assert compact(paths) == (5, 9, [])
    assert bits(paths.sweep) == before
    assert read_done(paths, verify=True).jobs == done
    assert computed(resume(paths)) == 0


def test_tidy_removes_what_a_killed_compaction_left(paths: Paths) -> None:
    before = bits(paths.sweep)
    old = paths.rows.resolve()
    kept = {path.name: path.read_bytes() for path in old.iterdir()}
    compact(paths)
    old.mkdir()
    for name, content in kept.items():
        (old / name).write_bytes(content)  # switched, but not yet cleaned
    tidy(paths)
    assert not old.exists()
    assert bits(paths.sweep) == before
    assert len(paths.parts()) == 1


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbage(path: Path) -> None:
    path.write_bytes(b"\x9c" * path.stat().st_size)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def swapped(path: Path) -> None:
    """Well-formed Parquet with the footer of another part."""
    import pyarrow.parquet as pq

    other = next(p for p in path.parent.iterdir() if p != path)
    table = pq.read_table(other).replace_schema_metadata(pq.read_schema(path).metadata)
    pq.write_table(table, path)


@pytest.mark.parametrize("harm", [truncate, garbage, empty, swapped])
@pytest.mark.parametrize("compacted", [False, True])
def test_a_broken_part_is_noticed_named_and_recomputed(paths: Paths, harm: Any, compacted: bool) -> None:
    before = bits(paths.sweep)
    if compacted:
        compact(paths)
        resume(paths, "--seeds", 7)
        before = bits(paths.sweep)
    victim = paths.parts()[0]
    lost = pd.read_parquet(victim)["job"].nunique()
    harm(victim)
    with pytest.warns(BrokenPartWarning, match=victim.name):
        frame = load(paths.sweep)
    assert len(frame) == len(before) - 2 * lost
    said = colrun("status", "tiny", "--results", paths.sweep.parent, "--verify")
    assert said.exit_code == 1
    assert f"broken {victim}" in said.stdout
    again = resume(paths, "--seeds", "0:5,7") if compacted else resume(paths)
    assert again.exit_code == 0
    assert computed(again) == lost
    assert f"set aside in {paths.broken}" in again.stderr
    assert str(victim) in again.stderr
    assert [path.name for path in paths.broken.iterdir()] == [victim.name]
    assert bits(paths.sweep) == before
    assert "verified" in colrun("status", "tiny", "--results", paths.sweep.parent, "--verify").stdout


def test_compaction_names_the_part_that_is_broken(paths: Paths) -> None:
    truncate(paths.parts()[0])
    name = paths.parts()[0].name
    said = colrun("compact", "tiny", "--results", paths.sweep.parent)
    assert name in said.output
    assert len(bits(paths.sweep)) == 48
    assert computed(resume(paths)) == 6


THEN = experiments.EXPERIMENTS["alignment"].numerics
NEXT = THEN + 1
"""Versions of the rows that are there, and of the program that meets them."""


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose numbers have changed."""
    for name, experiment in experiments.EXPERIMENTS.items():
        monkeypatch.setitem(experiments.EXPERIMENTS, name, replace(experiment, numerics=experiment.numerics + 1))


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.usefixtures("newer")
class TestStale:
    @pytest.fixture(autouse=True)
    def older(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Made by the program as it was."""
        with monkeypatch.context() as patch:
            for name, experiment in list(experiments.EXPERIMENTS.items()):
                patch.setitem(experiments.EXPERIMENTS, name, replace(experiment, numerics=THEN))
            assert computed(colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path / "out")) == 30
        self.paths = Paths.of(tmp_path / "out", "tiny")

    def test_a_sweep_refuses(self) -> None:
        before = snapshot(self.paths.sweep)
        result = resume(self.paths)
        assert result.exit_code == 2
        assert f"holds rows of numerics version {THEN}, and this program computes version {NEXT}" in result.stderr
        assert "--recompute-stale" in result.stderr
        assert snapshot(self.paths.sweep) == before

    def test_single_jobs_refuse_too(self) -> None:
        before = snapshot(self.paths.sweep)
        sweep = self.paths.sweep.parents[1] / "sweep.toml"
        ids = colrun("job", sweep, "--list", "--results", self.paths.sweep.parents[1] / "empty").stdout.splitlines()[0]
        result = colrun("job", sweep, ids, "--results", self.paths.sweep.parent)
        assert result.exit_code == 2
        assert f"holds rows of numerics version {THEN}" in result.stderr
        assert snapshot(self.paths.sweep) == before

    def test_they_are_reported(self) -> None:
        said = colrun("status", "tiny", "--results", self.paths.sweep.parent).stdout
        assert "tiny: 0 of 30 jobs done, 0 failed, 30 missing" in said
        assert f"stale: rows of numerics version {THEN}, current is {NEXT}" in said
        dry = colrun("sweep", self.paths.sweep.parents[1] / "sweep.toml", "--out", self.paths.sweep.parent, "--dry-run")
        assert f"stale     rows of numerics version {THEN}; current is {NEXT}" in dry.stdout
        with pytest.warns(
            StaleRowsWarning, match=f"numerics version {THEN} of experiment alignment; this program's is {NEXT}"
        ):
            load(self.paths.sweep)

    def test_they_are_set_aside_and_recomputed_on_request(self) -> None:
        old = [path.name for path in self.paths.parts()]
        result = resume(self.paths, "--recompute-stale")
        assert result.exit_code == 0
        assert computed(result) == 30
        assert [path.name for path in (self.paths.stale / f"numerics-{THEN}").iterdir()] == old
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            frame = load(self.paths.sweep)
        assert set(frame["numerics"]) == {NEXT}
        assert len(frame) == 60
        assert computed(resume(self.paths)) == 0


def test_another_experiment_is_not_mixed_in(paths: Paths) -> None:
    before = snapshot(paths.sweep)
    other = write(paths.sweep.parents[1], {**DECAY, "name": "tiny"}, file="other.toml")
    result = colrun("sweep", other, "-j", 1, "--out", paths.sweep.parent)
    assert result.exit_code == 2
    assert "holds rows of experiment alignment, and this sweep's is decay" in result.stderr
    assert snapshot(paths.sweep) == before


def test_provenance(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    colrun("sweep", path, "-j", 1, "--out", tmp_path / "out")
    paths = Paths.of(tmp_path / "out", "tiny")
    (file,) = paths.runs.iterdir()
    facts = json.loads(file.read_text())
    assert facts["sweep_file"] == path.read_text()
    assert facts["colrun"] == package.__version__
    assert facts["experiment"] == "alignment"
    assert facts["numerics"] == THEN
    assert {"torch", "numpy", "pandas", "pyarrow"} <= facts["packages"].keys()
    assert facts["cpu"]
    assert facts["host"]
    assert facts["started"] <= facts["finished"]
    assert (facts["computed"], facts["failed"], facts["diverged"]) == (30, 0, 0)
    assert {"commit", "clean", "python", "system", "cores", "command"} <= facts.keys()
    assert read_done(paths).parts == 1
    from colrun.store.parts import read_index

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
