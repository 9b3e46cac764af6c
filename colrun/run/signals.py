"""Being asked to stop. Imports nothing heavy, so that a command can be ready for it from its first moment."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
_asked: list[int] = []
_holding: list[bool] = []


class StoppedError(BaseException):
    """A signal asked to stop. Not an `Exception`, so that nobody takes it for the failure of a job."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGUSR1 raise `StoppedError` in the main thread; a second one ends the process at once.

    SIGUSR1 is what batch systems send before a time limit. Exit codes are 128 + the signal's number, as a shell
    reports of a process that a signal ended before it could answer: a script need not tell the two apart. A signal that
    a shell has asked to ignore, as SIGINT for what runs in its background, stays ignored.

    The exception may come anywhere, also where a library drops it or is left half-imported by it. So whatever goes
    wrong afterwards, and an end as if nothing had happened, count as being stopped too.
    """

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        _asked.append(number)
        if not _holding:
            raise StoppedError(number)

    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield
        return
    _asked.clear()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
    try:
        for number in before:
            signal.signal(number, stop)
        yield
        check_stopped()
    except BaseException:
        check_stopped()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def held() -> Iterator[None]:
    """While processes are started: they never see Ctrl-C, and being asked to stop is answered when they are there.

    A worker ignores Ctrl-C, but a Python that starts cannot yet, and one whose start is broken off cannot either: both
    would say goodbye with a traceback. Threads and processes inherit the mask.
    """
    _holding.append(True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        _holding.pop()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    check_stopped()


def check_stopped() -> None:
    """Raise again what was raised where Python must swallow it, such as in a destructor."""
    if _asked:
        raise StoppedError(_asked[0]) from None
