"""A results folder is untrusted data: whatever is in it, nothing outside is touched and good rows stay."""

import shutil
from pathlib import Path

import pytest

from tests.store.hostile import hold, make

EACH = 10


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    folder = tmp_path_factory.mktemp("small")
    return folder, make(folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", range(30))
def test_hostile_folders(small: tuple[Path, set[str]], tmp_path: Path, group: int) -> None:
    """300 of them; `make soak` makes 10,000."""
    made, good = small
    assert len(good) == 24
    for seed in range(group * EACH, (group + 1) * EACH):
        hold(made, tmp_path / str(seed), seed, good)
        shutil.rmtree(tmp_path / str(seed))
