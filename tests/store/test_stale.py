"""Rows of another numerics version or experiment: reported, never mixed in, recomputed on request."""

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from colrun import experiments
from colrun.store.load import StaleRowsWarning, load
from colrun.store.paths import Paths
from tests.runs import DECAY, TINY, colrun, computed, resume, snapshot, write

THEN = experiments.EXPERIMENTS["alignment"].numerics
NEXT = THEN + 1
"""Versions of the rows that are there, and of the program that meets them."""


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose numbers have changed."""
    for name, experiment in experiments.EXPERIMENTS.items():
        monkeypatch.setitem(experiments.EXPERIMENTS, name, replace(experiment, numerics=experiment.numerics + 1))


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
