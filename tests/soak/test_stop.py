"""Ctrl-C and SIGTERM: the end comes within seconds, what is done is kept, and it says how to go on."""

import os
import signal
import time

import pandas as pd
import pytest

from tests.soak.program import KILLS, Folder, chance

SECONDS = 15.0
"""Not a measure of speed: beyond it, it hangs."""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stopped_and_gone_on_with(folder: Folder, truth: pd.DataFrame, workers: str, name: str) -> None:
    source = chance()
    number = signal.Signals[name]
    stopped = 0
    for _ in range(max(2, KILLS // 12)):
        sweep = folder.start("sweep", "soak.toml", "-j", workers)
        sweep.until_parts(folder)
        time.sleep(source.uniform(0, 0.5))
        kept = len(folder.parts())
        asked = time.monotonic()
        if sweep.running():
            # A terminal sends Ctrl-C to the whole group; SIGTERM goes to the process that was started.
            os.killpg(sweep.pid, number) if name == "SIGINT" else os.kill(sweep.pid, number)
        code, said = sweep.end()
        assert time.monotonic() - asked < SECONDS
        assert "Traceback" not in said, said
        sweep.nothing_left()
        assert len(folder.parts()) >= kept
        folder.within(truth)
        assert not list((folder.results / "_failed").iterdir())
        if " computed → " in said:  # too late: all is done and said, and at most Python's own end was cut short
            assert code in (0, -number), said
            break
        stopped += 1
        assert code == 128 + number, said
        assert f"stopped by {name}; what is done is kept. Run the same command again to go on." in said
    assert stopped
    folder.sweep("-j", "2")
    folder.same_as(truth)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stopped_at_any_moment(folder: Folder, truth: pd.DataFrame, name: str) -> None:
    """Also while Python, torch or the workers are starting."""
    source = chance()
    number = signal.Signals[name]
    for _ in range(max(4, KILLS // 6)):
        sweep = folder.start("sweep", "soak.toml", "-j", "2")
        time.sleep(source.uniform(0, 5))
        os.killpg(sweep.pid, number)
        code, said = sweep.end()
        if said.startswith(
            "Fatal Python error: init_import_site"
        ):  # Python itself is starting, none of colrun is there
            assert (name, code) == ("SIGINT", 1), said
        else:
            assert code in (0, 128 + number, -number), said
            assert "Aborted" not in said
            assert code != 0 or " computed → " in said, "a signal is not lost"
            assert code != 128 + number or "Traceback" not in said, said
        sweep.nothing_left()
        folder.within(truth)
        assert not (folder.results / "_failed").is_dir() or not list((folder.results / "_failed").iterdir())
        if code == 0:
            break
    folder.sweep("-j", "2")
    folder.same_as(truth)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1"])
def test_single_jobs_stopped(folder: Folder, truth: pd.DataFrame, name: str) -> None:
    """What a batch system does to a task: units that are done are kept, and the exit code names the signal."""
    number = signal.Signals[name]
    code, batch = folder.run("job", "soak.toml", "--list", "--seconds", "10000")
    assert code == 0
    job = folder.start("job", "soak.toml", batch.strip())
    job.until_parts(folder)
    os.kill(job.pid, number)
    code, said = job.end()
    assert code == 128 + number, said
    assert f"stopped by {name}; what is done is kept." in said
    assert "Traceback" not in said
    assert 0 < len(folder.rows()) < len(truth)
    folder.within(truth)
    assert folder.run("job", "soak.toml", batch.strip())[0] == 0
    folder.same_as(truth)
