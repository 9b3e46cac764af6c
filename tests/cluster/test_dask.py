"""`colrun sweep --backend dask`, with a real scheduler and real workers on loopback, some of which die."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import pytest

from tests.runs import DECAY, write
from tests.soak.program import Folder, undisturbed, wait_for

ROOT = Path(__file__).parents[2]
KILLER = """
import os, signal
from colrun.experiments.decay import job as decay

def dask_setup(worker):
    def run(config, seeds, estimators, whole=decay.run):
        if 1 in seeds and config.hidden == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(config, seeds, estimators)
    decay.run = run
"""
"""A worker that one job kills, each time."""


@pytest.fixture(autouse=True)
def _installed() -> None:
    if importlib.util.find_spec("distributed") is None:
        if os.environ.get("CI"):
            pytest.fail("Dask must be installed here: make setup")
        pytest.skip("Dask is not installed (pip install 'colrun[dask]')")


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return undisturbed(Folder(tmp_path_factory.mktemp("undisturbed")))


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.processes = folder, list[subprocess.Popen[bytes]]()
        self.environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        self.file = folder / "scheduler.json"
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)
        )
        wait_for(self._there, 60, "the scheduler does not start")

    def _there(self) -> bool:
        with suppress(OSError, ValueError):
            self.address = json.loads(self.file.read_text())["address"]
            return True
        return False

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        program = Path(sys.executable).parent / "dask"
        with open(self.folder / f"dask-{len(self.processes)}.txt", "wb") as output:
            process = subprocess.Popen(
                [str(program), *command],
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        self.processes.append(process)
        return process

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard", *options)
        return self.start("worker", self.address, *options)

    def sweep(self, *more: str) -> list[str]:
        return ["sweep", "soak.toml", "--backend", "dask", "--scheduler", self.address, *more]

    def end(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def cluster(folder: Path, **environment: str) -> Iterator[Cluster]:
    folder.mkdir()
    started = None
    try:
        started = Cluster(folder, environment)
        yield started
    finally:
        if started:
            started.end()


def test_the_same_bits_and_a_killed_worker_loses_nothing(tmp_path: Path, truth: pd.DataFrame) -> None:
    with cluster(tmp_path / "dask") as engine:
        first = engine.worker("--no-nanny")
        engine.worker("--no-nanny")
        calm = Folder(tmp_path / "calm")
        code, said = calm.run(*engine.sweep())
        assert code == 0, said
        assert said.endswith("soak: 960 jobs, 0 done before, 960 computed → results/soak\n")
        calm.same_as(truth)
        (run,) = (calm.results / "_runs").iterdir()
        assert len(json.loads(run.read_text())["workers"]) == 2

        here = Folder(tmp_path / "killed")
        sweep = here.start(*engine.sweep())
        sweep.until_parts(here, 2)
        assert sweep.running()
        first.kill()
        code, said = sweep.end()
        assert code == 0, said
        assert "Traceback" not in said
        here.same_as(truth)


def test_the_last_worker_dies_and_another_comes(tmp_path: Path, truth: pd.DataFrame) -> None:
    """Dask waits for workers, also for the first."""
    here = Folder(tmp_path / "here")
    with cluster(tmp_path / "dask") as engine:
        sweep = here.start(*engine.sweep())
        wait_for(lambda: "waiting for workers of tcp://" in sweep.output.read_text(), 60, "it does not say so")
        worker = engine.worker("--no-nanny")
        sweep.until_parts(here, 2)
        worker.kill()
        wait_for(lambda: "no Dask worker is left; waiting for one" in sweep.output.read_text(), 60, "nor now")
        assert sweep.running()
        engine.worker()
        code, said = sweep.end()
        assert code == 0, said
        here.same_as(truth)


def test_a_job_that_kills_its_workers_is_found_and_the_rest_completes(tmp_path: Path) -> None:
    write(tmp_path, {**DECAY, "seeds": "0:2", "cell": "gru"})
    (tmp_path / "killer.py").write_text(KILLER)
    folder = Folder(tmp_path)
    with cluster(tmp_path / "dask", DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as engine:
        engine.worker("--preload", str(tmp_path / "killer.py"))
        code, said = folder.run("sweep", "sweep.toml", "--backend", "dask", "--scheduler", engine.address)
    assert code == 1, said
    assert "a worker process died; what it was doing runs again" in said
    assert "Traceback" not in said
    code, said = folder.run("status", "sweep.toml")
    assert "fading: 3 of 4 jobs done, 1 failed, 0 missing" in said
    (failure,) = [json.loads(path.read_text()) for path in (tmp_path / "results" / "fading" / "_failed").iterdir()]
    assert (failure["parameters"]["hidden"], failure["parameters"]["seed"]) == (5, 1)
    assert failure["error"].startswith("the worker process died")


def test_what_a_cluster_cannot_do_is_said(tmp_path: Path) -> None:
    here = Folder(tmp_path / "here")
    with cluster(tmp_path / "dask") as engine:
        greedy = engine.worker("--no-nanny", "--nthreads", "3")
        code, said = here.run(*engine.sweep())
        assert code == 1, said
        assert "has 3 threads, and colrun needs one per worker; start workers with: dask worker tcp://" in said
        greedy.kill()
        greedy.wait()
        if os.geteuid() == 0 and sys.platform.startswith("linux"):  # a worker with another view of the filesystem
            hidden = here.path / "results"
            hidden.mkdir(exist_ok=True)
            program = Path(sys.executable).parent / "dask"
            script = (
                f'mount -t tmpfs none "{hidden}" && exec "{program}" worker {engine.address} --nthreads 1 --no-nanny'
            )
            apart = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], env=engine.environment)
            engine.processes.append(apart)
            code, said = here.run(*engine.sweep())
            assert code == 1, said
            assert f"does not see the results folder {here.results}; all workers need it under the same path" in said
            assert len(said.splitlines()) <= 2, said
        engine.scheduler.kill()
        engine.scheduler.wait()
        code, said = here.run(*engine.sweep())
        assert code == 1, said
        assert f"Error: no Dask scheduler answers at {engine.address}" in said
        assert len(said.splitlines()) == 1, said


def test_the_scheduler_goes_away(tmp_path: Path, truth: pd.DataFrame) -> None:
    here = Folder(tmp_path / "here")
    with cluster(tmp_path / "dask") as engine:
        engine.worker()
        sweep = here.start(*engine.sweep())
        sweep.until_parts(here, 2)
        engine.scheduler.kill()
        code, said = sweep.end()
    assert code == 1, said
    assert "Traceback" not in said
    assert "went away; what is done is kept. Run the same command again to go on." in said
    here.within(truth)
    here.sweep("-j", "2")
    here.same_as(truth)


def test_a_local_cluster_survives_a_worker_and_listens_on_loopback_only(tmp_path: Path, truth: pd.DataFrame) -> None:
    here = Folder(tmp_path / "here")
    sweep = here.start("sweep", "soak.toml", "--backend", "dask", "-j", "2")
    sweep.until_parts(here, 2)
    workers = [pid for pid in sweep._marked() if pid != sweep.pid and b"spawn_main" in _words(pid)]
    assert len(workers) == 2
    assert _listening({sweep.pid, *workers}) == {"0100007F"}
    os.kill(workers[0], signal.SIGKILL)
    code, said = sweep.end()
    assert code == 0, said
    here.same_as(truth)
    sweep.nothing_left()


def _words(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _listening(pids: set[int]) -> set[str]:
    """Addresses on which processes accept connections, from the kernel's tables."""
    inodes = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = os.readlink(handle)
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                found.add(words[1].split(":")[0])
    return found


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_stopped_it_ends_within_seconds_and_keeps_what_is_done(tmp_path: Path, truth: pd.DataFrame, name: str) -> None:
    here, number = Folder(tmp_path / "here"), signal.Signals[name]
    sweep = here.start("sweep", "soak.toml", "--backend", "dask", "-j", "2")
    sweep.until_parts(here, 1)
    asked = time.monotonic()
    os.killpg(sweep.pid, number) if name == "SIGINT" else os.kill(sweep.pid, number)
    code, said = sweep.end()
    assert code == 128 + number, said
    assert time.monotonic() - asked < 30  # not a measure of speed: beyond it, it hangs
    assert said.splitlines()[-1].startswith(f"stopped by {name}; what is done is kept.")
    assert "Traceback" not in said
    sweep.nothing_left()
    here.within(truth)
    here.sweep("-j", "2")
    here.same_as(truth)
