"""As tests/store/test_hostile.py, on as many folders as there is time for: 10,000 in `make soak`."""

import shutil
import warnings
from pathlib import Path

import pytest

from tests.runs import TINY, colrun, write
from tests.soak.program import KILLS, chance
from tests.store.hostile import hold, rows_of


@pytest.mark.parametrize("share", range(4))
def test_hostile_folders(tmp_path: Path, share: int) -> None:
    warnings.simplefilter("ignore")
    made, source = tmp_path / f"made-{share}", chance()
    made.mkdir()
    path = write(made, TINY)
    for seed in range(5):
        assert colrun("sweep", path, "-j", 1, "--seeds", seed, "--out", made / "out").exit_code == 0
    good = rows_of(made / "out" / "tiny")
    for _ in range(10_000 * min(KILLS, 300) // 300 // 4):
        seed = source.randrange(2**32)
        hold(made, tmp_path / str(seed), seed, good)
        shutil.rmtree(tmp_path / str(seed))
