"""A worker process dies: the sweep completes by itself."""

import os
import signal
import time

import pandas as pd

from tests.soak.program import KILLS, Folder, chance


def test_killed_workers_lose_nothing(folder: Folder, truth: pd.DataFrame) -> None:
    source = chance()
    rounds, kills = max(1, KILLS // 30), 0
    for number in range(rounds):
        here = Folder(folder.path / str(number))
        sweep = here.start("sweep", "soak.toml", "-j", "2")
        for _ in range(source.randint(1, 6)):
            if source.random() < 0.7:
                sweep.until_parts(here)
            else:
                sweep.until_workers()
            time.sleep(source.uniform(0, 0.3))
            for pid in source.sample(sweep.workers(), k=min(1, len(sweep.workers()))):
                os.kill(pid, signal.SIGKILL)
                kills += 1
        code, said = sweep.end()
        assert code == 0, said
        assert "failed" not in said
        here.same_as(truth)
        sweep.nothing_left()
    print(f"{kills} workers killed in {rounds} sweeps")
    assert kills >= rounds
