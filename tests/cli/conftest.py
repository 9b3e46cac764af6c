"""Results to look at: a sweep of which a part is done."""

import shutil
from pathlib import Path

import pytest

from tests.runs import TINY, colrun, write


@pytest.fixture(scope="session")
def partly_done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("partly-done")
    path = write(folder, TINY)
    for seeds in ("0:2", "2:4"):
        assert colrun("sweep", path, "-j", 1, "--seeds", seeds, "--out", folder / "results").exit_code == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, partly_done: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with 24 of 30 jobs done, in two parts."""
    shutil.copytree(partly_done, tmp_path / "here", symlinks=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"
