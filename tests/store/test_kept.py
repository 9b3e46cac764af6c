"""Kept results: found where there are no others, small, and never taken for work that is done."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from colrun.errors import InvalidValueError
from colrun.store import kept
from colrun.store.index import read_done
from colrun.store.kept import keep, where_rows
from colrun.store.load import load
from colrun.store.paths import Paths
from tests.runs import DECAY, TINY, colrun, computed, files, write


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two sweeps, and no kept rows but those made in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept, "kept_folders", lambda: [Path("results/paper")])
    for number, content in enumerate((TINY, DECAY)):
        path = write(tmp_path, content, file=f"{number}.toml")
        assert colrun("sweep", path, "-j", 1, "--seeds", "0:3").exit_code == 0
    return tmp_path


@pytest.mark.parametrize("name", ["tiny", "fading"])
def test_kept_rows_are_the_same_in_less_space(here: Path, name: str) -> None:
    whole = load(f"results/{name}")
    (path,) = keep("results", name, "results/paper")
    assert path == Path(f"results/paper/{name}/{name}-1.parquet")
    small = load(path.parent)
    assert list(small.columns) == list(whole.columns)
    changed = [column for column in whole if small[column].dtype != whole[column].dtype]
    assert changed
    for column in whole:
        if column in changed:
            assert small[column].dtype == np.float32
            np.testing.assert_allclose(small[column], whole[column], rtol=1e-7)
        else:
            assert small[column].equals(whole[column])
    assert small["job"].nunique() == whole["job"].nunique() > 0
    assert here.name not in path.read_bytes().decode("latin-1")


@pytest.mark.usefixtures("here")
def test_kept_rows_are_used_where_there_are_no_others() -> None:
    assert where_rows("results", "gone") is None
    own = where_rows("results", "tiny")
    assert own is not None
    assert (own.folder, own.kept) == (Path("results/tiny"), None)
    assert str(own) == "tiny: rows from results/tiny"
    number = len(own.load())
    assert str(own) == f"tiny: {number} rows from results/tiny"
    keep("results", "tiny", "results/paper")
    found = where_rows("elsewhere", "tiny")
    assert found is not None
    assert (found.local, found.kept) == (None, Path("results/paper/tiny"))
    assert len(found.load()) == number
    assert str(found) == f"tiny: {number} rows from results/paper/tiny (kept results)"


@pytest.mark.usefixtures("here")
def test_the_plan_comes_from_the_sweep_file_or_the_provenance() -> None:
    keep("results", "tiny", "results/paper")
    rows = where_rows("elsewhere", "tiny")
    assert rows is not None
    plan = rows.planned()
    assert plan is not None
    assert str(plan.grids[0].seeds) == "0:5"  # of the file, though 0:3 was run
    for path in (rows.folder / "_runs").iterdir():
        facts = json.loads(path.read_text())
        assert not {"host", "system", "command"} & set(facts)
        assert facts["packages"]["torch"]
        os.remove(path)
    assert rows.planned() is None


def test_a_sweep_never_counts_kept_rows_as_done(here: Path) -> None:
    keep("results", "tiny", "results/paper")
    os.rename("results/tiny", "moved")
    assert computed(colrun("sweep", here / "0.toml", "-j", 1, "--seeds", "0:3")) == 18
    assert read_done(Paths.of("results", "tiny")).count() == 18


@pytest.mark.usefixtures("here")
def test_keeping_again_replaces() -> None:
    (path,) = keep("results", "tiny", "results/paper")
    before, content = files(path.parent), path.read_bytes()
    (path.parent / "tiny-2.parquet").write_bytes(b"left over")
    keep("results", "tiny", "results/paper")
    assert files(path.parent) == before
    assert path.read_bytes() == content


@pytest.mark.usefixtures("here")
def test_what_is_not_there_cannot_be_kept() -> None:
    with pytest.raises(InvalidValueError, match="there are no results at results/gone"):
        keep("results", "gone", "results/paper")
    assert not Path("results/paper").exists()
