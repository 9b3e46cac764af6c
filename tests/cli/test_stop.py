"""Signals: every command answers them alike, and leaves no file half-written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runs import ROOT, snapshot

LIMIT = 120.0
"""Not a measure of speed: beyond it, it hangs."""


def listens(pid: int, number: int) -> bool:
    """Whether a process has a handler of its own for a signal."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(line.split()[1] for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def stopped(number: int, *arguments: str, **options: Any) -> tuple[int, str, str]:
    """A command that gets a signal as soon as it is at work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "colrun", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip
    limit = time.monotonic() + LIMIT
    while not listens(process.pid, signal.SIGTERM):
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.001)
    process.send_signal(number)
    output, error = process.communicate(timeout=LIMIT)
    return process.returncode, output, error


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc, which only Linux has")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGUSR1"])
@pytest.mark.parametrize(
    "command",
    [
        ["sweep", "sweep.toml"],
        ["status", "tiny", "--verify"],
        ["plot", "rnn-alignment", "--out", "figures"],
        ["export", "tiny", "--csv", "-o", "rows.csv"],
        ["report", "-o", "report.html"],
        ["compact", "tiny"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_says_that_it_was_stopped(here: Path, command: list[str], name: str) -> None:
    number = signal.Signals[name]
    before = snapshot(here)
    code, output, error = stopped(number, *command)
    assert code == 128 + number, error
    assert output == ""
    assert error == f"stopped by {name}; what is done is kept. Run the same command again to go on.\n"
    assert snapshot(here) == before


@pytest.mark.usefixtures("here")
def test_a_signal_that_the_shell_asked_to_ignore_ends_nothing() -> None:
    """As Ctrl-C for `nohup colrun sweep … &` of a script."""
    code, output, error = stopped(
        signal.SIGINT, "sweep", "sweep.toml", "-j", "1",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert code == 0, error
    assert "6 computed" in output


def test_tests_in_the_background_of_a_shell_can_still_send_ctrl_c() -> None:
    """`nohup make test &`: what the tests start would inherit that it is ignored."""
    code = "import signal, tests.conftest; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert done.stdout == "True\n"


def test_ctrl_c_before_a_command_is_at_work_ends_it_without_a_traceback() -> None:
    """A module of a command that is slow to load: the signal arrives before anything can answer it."""
    slow = (
        "import os, signal, sys; import colrun.__main__ as program\n"
        "sys.argv[1:] = ['list']\n"
        "class Loading:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'colrun.cli': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Loading())\n"
        "program.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", slow], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
