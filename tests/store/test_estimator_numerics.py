"""Rows of another numerics version of one estimator: stale, and no others are."""

from dataclasses import replace
from pathlib import Path

import pytest

from colrun import estimators
from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName, is_plugin, parse_estimator
from colrun.run.pool import BackendError, Place
from colrun.store.load import StaleRowsWarning, load
from colrun.store.parts import encode, read_part
from colrun.store.paths import Paths
from colrun.sweep.plan import Piece, Unit
from tests.runs import bits, colrun, computed, resume, snapshot


@pytest.fixture
def newer(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A program in which the numbers of tbptt have changed, over rows from before."""
    entry = estimators.ESTIMATORS["tbptt"]
    monkeypatch.setitem(estimators.ESTIMATORS, "tbptt", replace(entry, numerics=2))
    return paths


def test_a_version_above_the_first_is_in_the_key(newer: Paths) -> None:  # noqa: ARG001
    assert parse_estimator("tbptt-3").key == "tbptt-3@v2"
    assert parse_estimator("tbptt-3@v2") == EstimatorName("tbptt", 3)
    assert parse_estimator("master-user").key == "master-user"
    for wrong in ("tbptt-3@v1", "tbptt-3@v3", "master-user@v2"):
        with pytest.raises(InvalidValueError, match=f"'{wrong}' is not known"):
            parse_estimator(wrong)
    assert [is_plugin(key) for key in ("tbptt-3", "tbptt-3@v2", "mine@0123456789abcdef")] == [False, False, True]


def test_a_sweep_refuses_and_says_so(newer: Paths) -> None:
    before = snapshot(newer.sweep)
    result = resume(newer)
    assert result.exit_code == 2
    assert "holds rows of tbptt-3, and this program computes numerics version 2 of it; they are stale" in result.stderr
    assert "--recompute-stale" in result.stderr
    assert snapshot(newer.sweep) == before
    status = colrun("status", "tiny", "--results", newer.sweep.parent).stdout
    assert "30 missing" in status
    assert "  stale: rows of tbptt-3, and this program computes numerics version 2 of it\n" in status
    dry = resume(newer, "--dry-run").stdout
    assert "  stale     rows of tbptt-3, and this program computes numerics version 2 of it\n" in dry
    with pytest.warns(StaleRowsWarning, match="numerics version 1 of tbptt; this program's is 2"):
        load(newer.sweep)
    assert computed(resume(newer, "--estimators", "master-user")) == 0  # as good as ever


def test_only_its_rows_are_set_aside_and_computed_again(newer: Paths) -> None:
    with pytest.warns(StaleRowsWarning):
        before = bits(newer.sweep)
    assert computed(resume(newer, "--recompute-stale")) == 30
    after = bits(newer.sweep)
    assert after.keys() == before.keys()
    for key, row in after.items():
        assert row == before[key] | ({"estimator_numerics": 2} if row["estimator"] == "tbptt" else {})
    assert len(list(newer.stale.glob("estimator.*.parquet"))) == 5
    assert computed(resume(newer)) == 0
    job = after[next(iter(after))]["job"]
    assert "--estimators master-user,tbptt-3\n" in colrun("show", job, "--results", newer.sweep.parent).stdout
    assert colrun("compact", "tiny", "--results", newer.sweep.parent).exit_code == 0
    assert computed(resume(newer)) == 0
    assert bits(newer.sweep) == after


def test_rows_of_a_later_program_are_stale_too(paths: Paths) -> None:
    (path, *_) = paths.parts()
    table, index = read_part(path)
    place = table.schema.get_field_index("estimator_numerics")
    versions = [2 if name == "tbptt" else 1 for name in table["estimator"].to_pylist()]
    done = {
        config: {joined.replace("tbptt-3", "tbptt-3@v2"): seeds for joined, seeds in groups.items()}
        for config, groups in index.done.items()
    }
    path.write_bytes(encode(table.set_column(place, table.schema.field(place), [versions]), replace(index, done=done)))
    assert "rows of tbptt-3@v2, and this program computes numerics version 1 of it" in resume(paths).stderr


def test_a_worker_with_another_version_is_refused(newer: Paths, tmp_path: Path) -> None:  # noqa: ARG001
    place = Place(Paths(tmp_path), "tiny", "run", 3)
    for key in ("tbptt-3", "tbptt-3@v3"):
        with pytest.raises(BackendError, match=f"computes tbptt-3@v2, and this one {key}; install the same version"):
            place.check(Unit("alignment", (Piece(None, "c0", ("master-user", key), (0,)),)))
