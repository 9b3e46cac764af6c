"""kill -9 of a merge at random moments, over and over; then on to the end."""

import random
import shutil
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.runs import files
from tests.soak.program import KILLS, Folder, Started, chance

SHARES = 8


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A sweep on machines that share no folder; some jobs are done by two of them."""
    folder = Folder(tmp_path_factory.mktemp("shares"))
    for number in range(1, SHARES + 1):
        folder.sweep("-j", "1", "--shard", f"{number}/{SHARES}", "--out", f"machine-{number}")
    folder.sweep("-j", "1", "--seeds", "0:5", "--out", "machine-0")
    return [folder.path / f"machine-{number}" for number in range(SHARES + 1)]


def test_a_killed_merge_goes_on_to_the_same_table(folder: Folder, truth: pd.DataFrame, shares: list[Path]) -> None:
    source = chance()
    before = [files(share) for share in shares]
    killed = finished = 0
    for _ in range(KILLS):
        merging = folder.start("merge", *map(str, source.sample(shares, len(shares))))
        until_writing(source, merging, folder)
        killed += merging.running()
        finished += not merging.running()
        merging.kill()
        folder.within(truth)
        if len(folder.rows()) == len(truth):
            shutil.rmtree(folder.results)
    code, said = folder.run("merge", *map(str, shares))
    assert code == 0, said
    folder.same_as(truth)
    assert [files(share) for share in shares] == before, "sources are only read"
    runs = {path.name for share in shares for path in (share / "soak" / "_runs").iterdir()}
    assert {path.name for path in (folder.results / "_runs").iterdir()} == runs
    print(f"{killed} merges killed, {finished} were faster")
    assert killed


def until_writing(source: random.Random, merging: Started, folder: Folder) -> None:
    """Most of its life is the start of Python; then it writes a part every few milliseconds."""
    if source.random() < 0.8:
        merging.until_parts(folder, source.randint(1, 4))
    time.sleep(source.uniform(0, 0.05))
