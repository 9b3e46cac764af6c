"""As tests/store/test_hostile.py, on as many folders as there is time for: 10,000 in `make soak`."""

import shutil
from pathlib import Path

import pytest

from tests.soak.program import KILLS, chance
from tests.store.hostile import hold, make


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(4))
def test_hostile_folders(tmp_path: Path, share: int) -> None:
    made, source = tmp_path / f"made-{share}", chance()
    made.mkdir()
    good = make(made)
    for _ in range(10_000 * min(KILLS, 300) // 300 // 4):
        seed = source.randrange(2**32)
        hold(made, tmp_path / str(seed), seed, good)
        shutil.rmtree(tmp_path / str(seed))
