"""`colrun script parallel --hosts`: GNU Parallel over two real sshd on loopback."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.cluster.engines import Hosts, children, need, need_gnu_parallel, two_hosts, wait_until
from tests.cluster.work import LIMIT, LONGER, Work


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    need_gnu_parallel()
    need("sshd", "ssh", "ssh-keygen", package="openssh-server")
    with two_hosts(tmp_path_factory.mktemp("sshd")) as found:
        yield found


@pytest.fixture
def work(tmp_path: Path, hosts: Hosts) -> Work:
    for name in hosts.names:
        hosts.regain(name)
    found = Work(tmp_path / "work", LONGER, unit_seconds="0.1")
    found.environment |= {"PARALLEL_SSH": hosts.ssh, "JOBS": "1"}
    return found


def listed(work: Work, *names: str) -> None:
    (work.path / "hosts of mine.txt").write_text("# two servers\n" + "".join(f"{name}\n" for name in names))
    work.script("parallel", "--batch-seconds", "1", "--hosts", "hosts of mine.txt")


def used(work: Work) -> set[str]:
    """Hosts on which a batch ended well."""
    lines = [
        line.split("\t")
        for log in (work.results("longer") / "_logs").glob("*.joblog")
        for line in log.read_text().splitlines()[1:]
    ]
    return {fields[1] for fields in lines if fields[6] == "0"}


def test_both_hosts_work(work: Work, hosts: Hosts, longer_truth: pd.DataFrame) -> None:
    listed(work, *hosts.names)
    work.run("./run.sh")
    work.same_as(longer_truth, "longer")
    assert used(work) == set(hosts.names)
    assert len(work.parts("longer")) > 10, "the environment is passed on: units are short there too"


def test_a_host_that_cannot_be_reached(work: Work, hosts: Hosts, longer_truth: pd.DataFrame) -> None:
    listed(work, "127.0.0.3", *hosts.names)
    work.run("./run.sh")
    work.same_as(longer_truth, "longer")
    assert used(work) == set(hosts.names)


def test_a_host_that_is_lost_on_the_way(work: Work, hosts: Hosts, longer_truth: pd.DataFrame) -> None:
    listed(work, *hosts.names)
    script = work.start("./run.sh")
    wait_until(lambda: len(work.parts("longer")) >= 2 or script.poll() is not None, "a part")
    hosts.lose(hosts.names[1])
    assert script.wait(LIMIT) == 0, work.said()
    work.same_as(longer_truth, "longer")


def test_killed_and_run_again_while_hosts_work_on(work: Work, hosts: Hosts, longer_truth: pd.DataFrame) -> None:
    listed(work, *hosts.names)
    script = work.start("./run.sh")
    wait_until(lambda: len(work.parts("longer")) >= 2 or script.poll() is not None, "a part")
    assert script.poll() is None
    for pid in (script.pid, *children(script.pid)):
        os.kill(pid, signal.SIGKILL)
    script.wait(60)
    work.run("./run.sh")
    work.same_as(longer_truth, "longer")


def test_a_file_without_hosts(work: Work) -> None:
    listed(work)
    assert "there is no login in hosts of mine.txt" in work.run("./run.sh", code=2)
    assert not work.results("longer").exists()
