"""Being asked to stop, wherever the signal comes."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from colrun.run.signals import StoppedError, held, stoppable
from tests.runs import colrun


def ask() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_it_is_raised_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(StoppedError, match="SIGTERM") as caught, stoppable():
        ask()
    assert caught.value.exit_code == 143
    assert signal.getsignal(signal.SIGTERM) == before


def _swallow() -> None:
    try:
        ask()
    except BaseException:  # as libraries do
        return


def test_a_library_that_drops_it_does_not_hide_it() -> None:
    with pytest.raises(StoppedError, match="SIGTERM"), stoppable():
        _swallow()


def _fail() -> None:
    _swallow()
    raise AttributeError("half-imported")


def test_what_fails_because_of_it_does_not_hide_it() -> None:
    with pytest.raises(StoppedError, match="SIGTERM"), stoppable():
        _fail()


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError), stoppable():
        _ = 1 / 0
    with stoppable():
        pass


def test_processes_started_while_ctrl_c_is_held_do_not_see_it() -> None:
    program = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\nprint('alive')"
    with held():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_being_asked_while_processes_start_is_answered_afterwards() -> None:
    done = []

    def start() -> None:
        with held():
            ask()
            done.append("started")

    with pytest.raises(StoppedError, match="SIGTERM"), stoppable():
        start()
    assert done == ["started"]


def test_a_thread_that_gets_no_signals_works_all_the_same() -> None:
    def list_all() -> int:
        return colrun("list").exit_code

    with ThreadPoolExecutor() as pool:
        assert pool.submit(list_all).result() == 0
