"""Progress: a live line on a terminal, plain lines elsewhere, nothing when asked to be quiet."""

import sys
import time
from types import TracebackType

from colrun.output import console
from colrun.run.unit import Outcome

PLAIN_SECONDS = 10.0


def spoken(seconds: float) -> str:
    """A duration as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Progress:
    """Counts outcomes of one sweep and shows them."""

    def __init__(self, name: str, total: int, quiet: bool) -> None:
        self.name, self.total, self.quiet = name, total, quiet
        self.done = self.failed = self.diverged = 0
        self.started = self.last = time.monotonic()
        self.live = not quiet and sys.stderr.isatty()
        self._bar: object | None = None

    def __enter__(self) -> "Progress":
        if self.live:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = ("[bold]{task.description}", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
            self._bar = Bar(*columns, console=console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task(self.name, total=self.total, note="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]

    def add(self, outcome: Outcome) -> None:
        """One outcome more."""
        self.done += outcome.jobs
        self.failed += len(outcome.failed)
        self.diverged += outcome.diverged
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, note=self._note())  # type: ignore[attr-defined]
        elif not self.quiet and time.monotonic() - self.last > PLAIN_SECONDS:
            self.last = time.monotonic()
            self.say(f"{self.name}: {self.done} of {self.total} jobs, {self._note()}")

    def say(self, message: str) -> None:
        """A line of its own."""
        if self._bar is not None:
            self._bar.console.print(message, highlight=False, markup=False)  # type: ignore[attr-defined]
        elif not self.quiet:
            print(message, file=sys.stderr, flush=True)

    def _note(self) -> str:
        passed = max(time.monotonic() - self.started, 1e-6)
        rate = self.done / passed
        parts = [f"{rate:.1f} jobs/s", f"{spoken((self.total - self.done) / rate)} left" if rate else ""]
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.diverged} diverged"] if self.diverged else []
        return ", ".join(part for part in parts if part)
