"""Calls in a process of their own, so that whatever they do there costs only themselves.

Plug-ins always run so, each in one process that stays for its next call: what one writes in place, prints, forks or
changes of the environment is gone with it, and one that exits, crashes or hangs is a failed job with that reason. With
a limit per job all calls do.
"""

import atexit
import ctypes
import os
import pickle
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEND_ERROR = 200_000
"""Characters of a traceback that are kept."""


class ApartError(Exception):
    """A call that ended otherwise than by giving its rows; its text is what to keep of it."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace or message


@dataclass(frozen=True)
class Limits:
    """Of one job; None where there is none."""

    seconds: float | None = None
    megabytes: float | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.megabytes is not None


_limits = Limits()


def use_limits(limits: Limits) -> None:
    """From now on, in this process."""
    global _limits
    if limits != _limits:
        _limits = limits
        end_all()


def limited() -> bool:
    return bool(_limits)


class _Child:
    """A fork of this process that computes what it is sent."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        (theirs, self.send), (self.receive, ours) = os.pipe(), os.pipe()
        self.parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(self.send)
                os.close(self.receive)
                _serve(compute, theirs, ours)
                code = 0
            finally:
                os._exit(code)
        os.close(theirs)
        os.close(ours)

    def call(self, argument: Any, seconds: float | None) -> Any:
        try:
            _write(self.send, argument)
            answer = self._read(None if seconds is None else time.monotonic() + seconds)
        except BrokenPipeError:
            answer = None
        except BaseException:
            self.end()
            raise
        if answer is None:
            raise ApartError(f"its process ended before it gave rows: {_ending(self.end())}")
        good, *what = answer
        if not good:
            raise ApartError(*what)
        return what[0]

    def _read(self, limit: float | None) -> Any:
        content = b""
        while len(content) < 8 or len(content) < 8 + int.from_bytes(content[:8], "little"):
            left = None if limit is None else max(0.0, limit - time.monotonic())
            if not select.select([self.receive], [], [], left)[0]:
                raise ApartError("it took longer than --job-timeout allows")
            if not (piece := os.read(self.receive, 1 << 20)):
                return None
            content += piece
        return pickle.loads(content[8:])

    def end(self) -> int:
        """Kill it and all that it started; how it ended, if it had ended by itself."""
        if os.getpid() != self.parent:  # a fork of the process that it belongs to
            return 0
        for handle in (self.send, self.receive):
            with suppress(OSError):
                os.close(handle)
        time.sleep(0.01)
        with suppress(ChildProcessError):
            found, status = os.waitpid(self.pid, os.WNOHANG)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            return status if found else os.waitpid(self.pid, 0)[1]
        return 0


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name} (out of memory, or a crash)"
    return f"exit code {os.waitstatus_to_exitcode(status)}"


def _write(handle: int, content: Any) -> None:
    data = pickle.dumps(content)
    data = len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(handle, data) :]


def _serve(compute: Callable[[Any], Any], receive: int, send: int) -> None:
    """In the child: calls until the pipe is closed. Standard output is the command's own, so prints go to errors."""
    os.setpgid(0, 0)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: end with the process that forked it
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    with suppress(OSError):
        os.dup2(2, 1)
    if _limits.megabytes is not None:
        here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = here + int(_limits.megabytes * 2**20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    file = os.fdopen(receive, "rb")
    while length := file.read(8):
        argument = pickle.loads(file.read(int.from_bytes(length, "little")))
        try:
            answer: tuple[Any, ...] = (True, compute(argument))
        except BaseException as error:  # an exit too is a failure of the job
            text = "".join(traceback.format_exception(error))[-SEND_ERROR:]
            answer = (False, f"{type(error).__name__}: {error}", text)
        _write(send, answer)


_children: dict[str, _Child] = {}


def call_apart(whose: str, compute: Callable[[Any], Any], argument: Any, jobs: int) -> Any:
    """`compute(argument)` in the process of that plug-in, or of colrun's own estimators ("")."""
    child = _children.get(whose)
    if child is None or child.parent != os.getpid():
        if not _children:
            atexit.register(end_all)
        child = _children[whose] = _Child(compute)
    try:
        return child.call(argument, None if _limits.seconds is None else _limits.seconds * jobs)
    except ApartError:
        _children.pop(whose).end()  # the next call starts afresh
        raise


def end_all() -> None:
    """Of this process; whatever they were doing is lost."""
    while _children:
        _children.popitem()[1].end()
