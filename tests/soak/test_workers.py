"""A worker process dies: the sweep completes by itself."""

import json
import os
import resource
import signal
import time
from contextlib import suppress

import pandas as pd

from tests.soak.program import KILLS, Folder, chance, exactly, undisturbed

CPU_SECONDS = 12
"""More than the main process needs, less than the long job."""


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
            if workers := sweep.workers():
                with suppress(ProcessLookupError):  # it has just ended by itself
                    os.kill(source.choice(workers), signal.SIGKILL)
                    kills += 1
        code, said = sweep.end()
        assert code == 0, said
        assert "failed" not in said
        here.same_as(truth)
        sweep.nothing_left()
    print(f"{kills} workers killed in {rounds} sweeps")
    assert kills >= rounds


def test_a_job_that_kills_its_worker_is_found_and_the_rest_completes(folder: Folder) -> None:
    """A limit on CPU time: the system kills every worker that runs the long job, and no other."""
    names = ["--reading", "text", "--lateral", "0%", "--estimators", "master-user,tbptt-19000", "--seeds", "0:1"]
    others = undisturbed(Folder(folder.path / "alone"), *names, "--steps", "10,11,12")
    here = Folder(folder.path / "limited", unit_seconds="0.001")
    sweep = here.start(
        *("sweep", "soak.toml", "-j", "2", *names, "--steps", "10,11,12,20000", "--columns", "3", "--width", "2"),
        before=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
    )
    code, said = sweep.end()
    assert code == 1, said
    assert "Traceback" not in said
    assert "a worker process died; what it was doing runs again" in said
    (failure,) = [json.loads(path.read_text()) for path in (here.results / "_failed").iterdir()]
    assert failure["parameters"]["steps"] == 20000
    assert failure["error"].startswith("the worker process died")
    exactly(here.rows(), others[(others["columns"] == 3) & (others["width"] == 2)].reset_index(drop=True))
    sweep.nothing_left()
