"""Real engines on loopback, started for a test and stopped after it: sshd on two addresses, and a Slurm of one node."""

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def need(*programs: str, package: str) -> None:
    """Skip, with the reason, where an engine is not installed; in CI nothing is skipped."""
    path = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
    gone = [program for program in programs if not shutil.which(program, path=path)]
    if gone:
        unavailable(f"{', '.join(gone)} not installed (apt-get install {package})")


def unavailable(reason: str) -> None:
    """Skip, or fail in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"nothing is skipped in CI: {reason}")
    pytest.skip(reason)


def need_gnu_parallel() -> None:
    """Another program of that name is in moreutils."""
    need("parallel", package="parallel")
    version = subprocess.run(["parallel", "--version"], capture_output=True, text=True, check=False)
    if "GNU parallel" not in version.stdout:
        unavailable("this `parallel` is not GNU Parallel (apt-get install parallel)")


def free_port() -> int:
    """On all loopback addresses."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 600.0) -> None:
    """Not a measure of speed: beyond it, it hangs."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, f"{what} did not come about in {seconds:.0f} s"
        time.sleep(0.1)


def _end_with_parent() -> None:
    """Also if the tests are killed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class Daemons:
    """Processes in the foreground of their own groups, ended in the reverse order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        path = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
        program = shutil.which(command[0], path=path)  # sshd wants to be started by its full path
        assert program
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [program, *command[1:]],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                process_group=0,
                preexec_fn=_end_with_parent,
            )
        self.running.append(process)
        return process

    def stop(self) -> None:
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)

    def logs(self) -> str:
        return "\n".join(f"{path.name}:\n{path.read_text()[-2000:]}" for path in sorted(self.folder.glob("*.log")))


def children(pid: int) -> list[int]:
    """All descendants of a process."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        more = parents.get(left.pop(), [])
        found += more
        left += more
    return found


def words(pid: int) -> list[bytes]:
    """Its command line; of one that has ended, two empty words."""
    try:
        return [*Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"), b""]
    except OSError:
        return [b"", b""]


class Hosts:
    """Two addresses of this machine that answer to ssh, with keys and settings of their own."""

    names = ("127.0.0.1", "127.0.0.2")

    def __init__(self, folder: Path) -> None:
        self.daemons = Daemons(folder)
        self.folder = folder
        self.port = free_port()
        for name in ("host", "user"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(command, check=True, capture_output=True)
        shutil.copy(folder / "user.pub", folder / "authorized")
        options = {
            "Port": self.port,
            "IdentityFile": folder / "user",
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "no",
            "BatchMode": "yes",
            "ConnectTimeout": 10,
            "LogLevel": "ERROR",
        }
        (folder / "ssh_config").write_text("Host *\n" + "".join(f"  {k} {v}\n" for k, v in options.items()))
        Path("/run/sshd").mkdir(exist_ok=True)  # compiled in: where sshd gives up its rights
        self.servers = {name: self._serve(name) for name in self.names}
        for name in self.names:
            wait_until(lambda name=name: self.answers(name), f"sshd on {name}: {self.daemons.logs()}", 30)  # type: ignore[misc]

    def _serve(self, name: str) -> subprocess.Popen[bytes]:
        options = {
            "ListenAddress": f"{name}:{self.port}",
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.folder / "authorized",
            "PermitRootLogin": "prohibit-password",
            "PasswordAuthentication": "no",
            "KbdInteractiveAuthentication": "no",
            "UsePAM": "no",
            "StrictModes": "no",
            "MaxStartups": "100",
            "PidFile": "none",
        }
        config = self.folder / f"sshd-{name}.conf"
        config.write_text("".join(f"{key} {value}\n" for key, value in options.items()))
        return self.daemons.start(f"sshd-{name}", "sshd", "-D", "-e", "-f", str(config))

    @property
    def ssh(self) -> str:
        return f"ssh -F {self.folder / 'ssh_config'}"

    def answers(self, name: str) -> bool:
        return subprocess.run([*self.ssh.split(), name, "true"], capture_output=True, check=False).returncode == 0

    def lose(self, name: str) -> None:
        """The host and its connections are gone, as if unplugged; what runs there may run on."""
        server = self.servers[name]
        connections = [pid for pid in children(server.pid) if b"sshd" in words(pid)[0]]
        for pid in (server.pid, *connections):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        server.wait(20)

    def regain(self, name: str) -> None:
        if self.servers[name].poll() is not None:
            self.servers[name] = self._serve(name)
            wait_until(lambda: self.answers(name), f"sshd on {name}: {self.daemons.logs()}", 30)


@contextlib.contextmanager
def two_hosts(folder: Path) -> Iterator[Hosts]:
    """While the test runs."""
    hosts = Hosts(folder)
    try:
        yield hosts
    finally:
        hosts.daemons.stop()


SLURM = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MaxArraySize=4
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP
"""
"""A small cred_expire lets a task that was requeued start again within seconds; MaxArraySize is small on purpose."""


class Slurm:
    """A cluster of one node with two cores; accounting is off, so squeue and scontrol say what happens."""

    def __init__(self, folder: Path) -> None:
        self.daemons = Daemons(folder)
        for name in ("munge", "state", "spool"):
            (folder / name).mkdir()
        (folder / "munge").chmod(0o711)
        (folder / "munge.key").write_bytes(secrets.token_bytes(32))
        (folder / "munge.key").chmod(0o600)
        self.config = folder / "slurm.conf"
        self.config.write_text(
            SLURM.format(folder=folder, host=socket.gethostname(), controller=free_port(), daemon=free_port())
        )
        self.environment = {"SLURM_CONF": str(self.config)}
        munge = {
            "socket": "munge/socket",
            "key-file": "munge.key",
            "pid-file": "munged.pid",
            "seed-file": "munged.seed",
        }
        places = [f"--{option}={folder / name}" for option, name in munge.items()]
        self.daemons.start(
            "munged", "munged", "-F", "--force", "--num-threads=2", f"--log-file={folder}/munged.log", *places
        )
        wait_until((folder / "munge" / "socket").exists, f"munged: {self.daemons.logs()}", 30)
        self.daemons.start("slurmctld", "slurmctld", "-D", "-f", str(self.config))
        self.daemons.start("slurmd", "slurmd", "-D", "-f", str(self.config))
        wait_until(lambda: "idle" in self.ask("sinfo", "-h"), f"Slurm: {self.daemons.logs()}", 60)

    def ask(self, *command: str) -> str:
        """What one of its commands prints."""
        environment = os.environ | self.environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    def queue(self) -> list[str]:
        """Id and state of every task in the queue."""
        return self.ask("squeue", "--noheader", "--array", "--format", "%i %T").split("\n")[:-1]

    def until_empty(self) -> None:
        """All tasks have ended."""
        wait_until(lambda: not self.queue(), f"the end of all tasks: {self.queue()}")

    def empty(self) -> None:
        """End all tasks."""
        self.ask("scancel", "--user", "root")
        self.until_empty()


@contextlib.contextmanager
def slurm_cluster(folder: Path) -> Iterator[Slurm]:
    """While the test runs."""
    cluster = Slurm(folder)
    try:
        yield cluster
    finally:
        cluster.empty()
        cluster.daemons.stop()
