"""Many parts become few: the same rows, also after a compaction that was killed."""

import pytest

from colrun.store import join
from colrun.store.compact import compact
from colrun.store.generations import tidy
from colrun.store.index import read_done
from colrun.store.paths import Paths
from tests.runs import bits, computed, resume


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
    monkeypatch.setattr(join, "ROWS_PER_FILE", 7)
    assert compact(paths) == (5, 9, [])
    assert bits(paths.sweep) == before
    assert read_done(paths, verify=True).jobs == done
    assert computed(resume(paths)) == 0


def test_tidy_removes_what_a_killed_compaction_left(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bits(paths.sweep)
    old = paths.rows.resolve()
    monkeypatch.setattr("colrun.store.generations.discard", lambda *_: None)
    compact(paths)  # switched, but not yet cleaned
    monkeypatch.undo()
    assert old.exists()
    tidy(paths)
    assert not old.exists()
    assert bits(paths.sweep) == before
    assert len(paths.parts()) == 1
