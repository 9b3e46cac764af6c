"""`colrun script slurm`, run by a real Slurm: slurmctld, slurmd and munged on loopback."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.cluster.engines import Slurm, children, need, slurm_cluster, unavailable, wait_until, words
from tests.cluster.work import LONGER, TEXT, Work


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    need("slurmctld", "slurmd", "sbatch", "munged", package="slurm-wlm munge")
    if os.geteuid() != 0:
        unavailable("Slurm's daemons are started as root")
    with slurm_cluster(tmp_path_factory.mktemp("slurm")) as found:
        yield found


def prepared(folder: Path, cluster: Slurm, text: str, unit_seconds: str, *options: str) -> Work:
    cluster.empty()
    work = Work(folder / "work", text, unit_seconds=unit_seconds)
    work.environment |= cluster.environment
    work.script("slurm", "--memory", "1G", *options)
    return work


@pytest.fixture
def longer(tmp_path: Path, cluster: Slurm) -> Work:
    """Two tasks or so, of some seconds, of which one has published something."""
    work = prepared(tmp_path, cluster, LONGER, "0.1", "--task-minutes", "0.03")
    assert "submitted as array" in work.run("bash", "run.sh")
    wait_until(lambda: len(work.parts("longer")) >= 2, "a part")
    assert any("RUNNING" in line for line in cluster.queue()), "and is not done yet"
    return work


def report(work: Work, cluster: Slurm, name: str) -> str:
    """What the last task wrote, once everything has ended."""
    cluster.until_empty()
    return "\n".join(path.read_text() for path in (work.results(name) / "_logs").glob("*.report"))


def left_logs(work: Work, name: str) -> str:
    return "\n".join(path.read_text() for path in (work.results(name) / "_logs").glob("*.out"))


def running_jobs(cluster: Slurm) -> list[int]:
    """Process ids of `colrun job` below slurmd's own."""
    started = cluster.daemons.running[-1].pid
    everyone = children(1) if os.getpid() != 1 else children(started)
    mark = str(cluster.config).encode()
    found = []
    for pid in everyone:
        if words(pid)[1:4] == [b"-m", b"colrun", b"job"]:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            if mark in environment and b"SLURM_ARRAY_TASK_ID" in environment:
                found.append(pid)
    return found


def test_gives_the_table_of_a_sweep(tmp_path: Path, cluster: Slurm, truth: pd.DataFrame) -> None:
    """In more tasks than an array may have here (4), so that a second one covers the rest by its offset."""
    options = [
        "--task-minutes",
        "0",
        "--partition",
        "other",
        "--sbatch",
        '--comment="a test"',
        "--setup",
        "umask 027",
    ]
    work = prepared(tmp_path, cluster, TEXT, "0.0001", *options)
    said = work.run("bash", "run.sh")
    match = re.search(r"tasks 1 to ([0-9]+) of \1 submitted as array ([0-9]+) ([0-9]+)\n", said)
    assert match, said
    assert 4 < int(match[1]) <= 8
    assert "colrun status --results results -- sweep.toml" in said
    assert "resume  bash run.sh" in said
    first = cluster.ask("scontrol", "show", "job", match[2])
    assert "Partition=other" in first
    assert "Comment=a test" in first
    assert "is in the queue already" in work.run("bash", "run.sh", code=1)
    last = report(work, cluster, "small")
    assert "part(s) → 1" in last
    assert "72 of 72 jobs done, 0 failed, 0 missing" in last
    work.same_as(truth)
    assert not left_logs(work, "small"), "tasks that are done leave no file"
    assert "nothing is missing" in work.run("bash", "run.sh")
    assert not cluster.queue()


def test_only_so_many_at_once(tmp_path: Path, cluster: Slurm) -> None:
    work = prepared(tmp_path, cluster, TEXT, "0.0001", "--task-minutes", "0", "--max-running", "1")
    said = work.run("bash", "run.sh")
    arrays = re.search(r"as array ([0-9]+) ([0-9]+)\n", said)
    assert arrays, said
    for each in arrays.groups():
        assert "ArrayTaskThrottle=1" in cluster.ask("scontrol", "show", "job", each)
    assert f"Dependency=afterany:{arrays[1]}" in cluster.ask("scontrol", "show", "job", arrays[2])


def test_a_process_that_is_killed(longer: Work, cluster: Slurm, longer_truth: pd.DataFrame) -> None:
    """Its task goes back into the queue by itself, and the last task waits for it."""
    victims = running_jobs(cluster)
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    assert "0 failed, 0 missing" in report(longer, cluster, "longer")
    longer.same_as(longer_truth, "longer")


def test_a_task_that_is_killed(longer: Work, cluster: Slurm, longer_truth: pd.DataFrame) -> None:
    """The report says that something is missing, and the script goes on."""
    task = next(line.split()[0] for line in cluster.queue() if line.endswith("RUNNING"))
    cluster.ask("scancel", "--signal=KILL", "--full", task)
    assert "run the script again to go on" in report(longer, cluster, "longer")
    assert "submitted as array" in longer.run("bash", "run.sh")
    report(longer, cluster, "longer")
    longer.same_as(longer_truth, "longer")


def test_a_task_that_is_requeued(longer: Work, cluster: Slurm, longer_truth: pd.DataFrame) -> None:
    task = next(line.split()[0] for line in cluster.queue() if line.endswith("RUNNING"))
    cluster.ask("scontrol", "requeue", task)
    assert "0 failed, 0 missing" in report(longer, cluster, "longer")
    longer.same_as(longer_truth, "longer")


def test_all_tasks_cancelled(longer: Work, cluster: Slurm, longer_truth: pd.DataFrame) -> None:
    longer.run("scancel", "--name", "colrun-longer")
    cluster.until_empty()
    assert len(longer.parts("longer")) >= 2
    longer.run("bash", "run.sh")
    report(longer, cluster, "longer")
    longer.same_as(longer_truth, "longer")


def test_a_time_limit(tmp_path: Path, cluster: Slurm, longer_truth: pd.DataFrame) -> None:
    """Two minutes, with a warning 30 to 60 s after the start: a task that hangs must stop, and come back."""
    options = ["--task-minutes", "100", "--time", "00:02:00", "--sbatch", "--signal=B:USR1@60"]
    work = prepared(tmp_path, cluster, LONGER, "0.1", *options)
    said = work.run("bash", "run.sh")
    array = re.search("tasks 1 to 1 of 1 submitted as array ([0-9]+)", said)
    assert array, said
    wait_until(lambda: bool(work.parts("longer")), "a part")
    (hanging,) = running_jobs(cluster)
    os.kill(hanging, signal.SIGSTOP)
    wait_until(lambda: asked_to_end(hanging), "the warning")
    os.kill(hanging, signal.SIGCONT)
    wait_until(lambda: "(code 143) and goes back into the queue" in left_logs(work, "longer"), "its return")
    cluster.ask("scontrol", "update", f"JobId={array[1]}_0", "TimeLimit=60")  # enough, however busy this machine is
    assert "0 failed, 0 missing" in report(work, cluster, "longer")
    work.same_as(longer_truth, "longer")


def asked_to_end(pid: int) -> bool:
    """Whether SIGTERM waits for a process."""
    pending = re.search("ShdPnd:\\s*([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text())
    assert pending
    return bool(int(pending[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_it_must_not_be_given_to_sbatch(tmp_path: Path, cluster: Slurm) -> None:
    work = prepared(tmp_path, cluster, TEXT, "0.0001")
    work.run("sbatch", "--output=said", "run.sh")
    cluster.until_empty()
    assert "with bash and not with sbatch" in (work.path / "said").read_text()
