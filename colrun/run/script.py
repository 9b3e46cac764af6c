"""Shell scripts that run a sweep through another engine. The store decides what is done; a script may be run again."""

import shlex
from collections.abc import Iterator

from colrun.sweep.file import Sweep
from colrun.sweep.plan import units
from colrun.sweep.seeds import Seeds


def unit_ids(sweep: Sweep) -> Iterator[str]:
    """One argument for `colrun job` per unit of work: its jobs with slashes between them."""
    for unit in units(sweep):
        by_config: dict[str, list[int]] = {}
        for piece in unit.pieces:
            by_config.setdefault(piece.id, []).extend(piece.seeds)
        yield "/".join(f"{config}.{Seeds.of(seeds)}" for config, seeds in by_config.items())


def parallel_script(sweep: Sweep, job_command: list[str]) -> Iterator[str]:
    """Lines of a bash script around GNU Parallel."""
    yield "#!/usr/bin/env bash"
    yield f"# Runs the sweep {sweep.name} with GNU Parallel; run it again to go on where it stopped."
    yield "# JOBS=4 bash this-script   sets the number of workers (default: one per core)."
    yield "set -euo pipefail"
    yield "export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1"
    yield "# Each line below is one unit of work: some seconds of jobs that share one start of Python."
    yield f"parallel --jobs \"${{JOBS:-100%}}\" --halt never {_twice_quoted(job_command)} {{}} <<'UNITS'"
    yield from unit_ids(sweep)
    yield "UNITS"


def _twice_quoted(command: list[str]) -> str:
    """For the shell that runs the script and for the one that GNU Parallel starts, which reads the words again.

    A brace in a name must not be taken for a replacement string such as {} or {.}: its quotes are closed and opened
    again behind it, which is nothing to a shell.
    """
    return shlex.quote(shlex.join(command).replace("{", "{''"))
