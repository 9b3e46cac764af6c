"""A results folder is untrusted data: whatever is in it, nothing outside is touched and good rows stay."""

import shutil
import warnings
from pathlib import Path

import pytest

from tests.store.hostile import hold, rows_of

EACH = 10


@pytest.mark.parametrize("group", range(30))
def test_hostile_folders(made: Path, tmp_path: Path, group: int) -> None:
    """300 of them; `make soak` makes 10,000."""
    warnings.simplefilter("ignore")
    good = rows_of(made / "out" / "tiny")
    assert len(good) == 60
    for seed in range(group * EACH, (group + 1) * EACH):
        hold(made, tmp_path / str(seed), seed, good)
        shutil.rmtree(tmp_path / str(seed))
