"""A sweep to read, to break and to compact."""

import shutil
from pathlib import Path

import pytest

from colrun.store.paths import Paths
from tests.runs import TINY, colrun, write


@pytest.fixture(scope="session")
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
