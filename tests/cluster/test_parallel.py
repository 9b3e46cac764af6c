"""`colrun script parallel`, run by the real GNU Parallel."""

import os
import signal
from pathlib import Path

import pandas as pd
import pytest

from tests.cluster.engines import children, need_gnu_parallel, wait_until, words
from tests.cluster.work import LIMIT, LONGER, Work

ODD_NAMES = [
    'it\'s "quoted";touch hacked; $(touch hacked) `touch hacked` $HOME.toml',
    "a{}b{.}c{#}d{= $_=1 =} stars*?[a] back\\slash 100%@SWEEP@.toml",
    "-j.toml",
]


@pytest.fixture(autouse=True)
def _installed() -> None:
    need_gnu_parallel()


def batches(work: Work, name: str) -> list[list[str]]:
    """The lines of every joblog, without its head."""
    logs = (work.results(name) / "_logs").glob("parallel-*.joblog")
    return [[line for line in log.read_text().splitlines() if not line.startswith("Seq")] for log in sorted(logs)]


def test_gives_the_table_of_a_sweep_and_may_be_run_again(tmp_path: Path, truth: pd.DataFrame) -> None:
    work = Work(tmp_path / "work", environment={"JOBS": "1"})
    work.script("parallel")
    said = work.run("./run.sh")
    assert "72 of 72 jobs done" in said
    work.same_as(truth)
    (log,) = batches(work, "small")
    parts = work.parts("small")
    assert 2 <= len(log) < len(parts), "several batches, of several units each"
    assert "nothing is missing" in work.run("./run.sh")
    assert work.parts("small") == parts
    assert batches(work, "small") == [log]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_stay_names(tmp_path: Path, truth: pd.DataFrame, name: str) -> None:
    work = Work(tmp_path / "work", file=name)
    work.script("parallel", "--columns", "3", "--results", f"out {name}", "--batch-seconds", "1")
    work.run("./run.sh")
    expected = truth[truth["columns"] == 3].reset_index(drop=True)
    work.path.joinpath(f"out {name}").rename(work.path / "results")
    pd.testing.assert_frame_equal(work.rows(), expected, check_exact=True)
    assert {path.name for path in work.path.iterdir()} == {name, "results", "run.sh", "bin"}


def test_killed_and_run_again_while_its_jobs_live_on(tmp_path: Path, longer_truth: pd.DataFrame) -> None:
    work = Work(tmp_path / "work", LONGER, unit_seconds="0.1", environment={"JOBS": "1"})
    work.script("parallel")
    first = work.start("./run.sh")
    wait_until(lambda: len(work.parts("longer")) >= 2 or first.poll() is not None, "a part")
    assert first.poll() is None
    family = {pid: words(pid) for pid in children(first.pid)}
    jobs = [pid for pid, command in family.items() if command[1:4] == [b"-m", b"colrun", b"job"]]
    engine = [pid for pid, command in family.items() if b"/parallel" in command[1]]
    assert jobs
    assert engine
    for pid in (first.pid, *engine):
        os.kill(pid, signal.SIGKILL)
    first.wait(60)
    assert any(Path(f"/proc/{pid}").exists() for pid in jobs), "they run on"
    work.run("./run.sh")
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in jobs), "the end of what was left")
    work.same_as(longer_truth, "longer")


def test_a_job_that_is_killed_is_tried_again(tmp_path: Path, longer_truth: pd.DataFrame) -> None:
    work = Work(tmp_path / "work", LONGER, unit_seconds="0.1", environment={"JOBS": "1"})
    work.script("parallel")
    script = work.start("./run.sh")
    wait_until(lambda: len(work.parts("longer")) >= 2 or script.poll() is not None, "a part")
    killed = 0
    for pid in children(script.pid):
        if words(pid)[1:4] == [b"-m", b"colrun", b"job"]:
            os.kill(pid, signal.SIGKILL)
            killed += 1
    assert killed
    assert script.wait(LIMIT) == 0, work.said()
    work.same_as(longer_truth, "longer")


def test_a_refusal_leaves_nothing_behind(tmp_path: Path) -> None:
    work = Work(tmp_path / "work")
    work.script("parallel")
    assert "Invalid value for '--slots'" in work.run("./run.sh", "--slots", "0", code=2)
    assert not work.path.joinpath("results").exists()
