"""Shell scripts that run a sweep through another engine. The store decides what is done; a script may be run again.

A script holds no list of jobs: it asks `colrun job --list` when it runs, so it stays short and true when the sweep file
is edited. What differs between sweeps is put into the templates beside this file in place of `@WORD@`.
"""

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError, shown
from colrun.sweep.file import Sweep
from colrun.sweep.plan import UNIT_SECONDS, entries

ALL_CORES = "100%"
BATCH_SECONDS = 60.0
TASK_MINUTES = 10.0
MARGIN = 2.0
"""The time that a task asks for, over its estimate: other processors, other people on the same node."""
START_SECONDS = 300.0
"""Added to it: Python and torch from a slow shared disk, kernels compiled once."""
SIGNAL_SECONDS = 120
"""So long before its limit a task is told to stop; a unit of work takes some seconds."""


@dataclass(frozen=True)
class Asked:
    """What a script is to run, as its maker named it."""

    sweep: Sweep
    name: str
    """The sweep as given: a name or a file."""
    results: Path
    values: Mapping[str, Any]
    """Replaced values of the sweep file."""
    plugins: tuple[str, ...] = ()
    """Files."""

    @property
    def arguments(self) -> list[str]:
        """For `colrun job` and `colrun status`, whatever the names begin with."""
        found = ["--results", str(self.results)]
        for key, value in self.values.items():
            found += [f"--{key.replace('_', '-')}", ",".join(value) if isinstance(value, list) else str(value)]
        for file in self.plugins:
            found += ["--plugin", file]
        return [*found, "--", self.name]

    def made(self, engine: str, options: list[str]) -> str:
        """The command that makes the script, in one line whatever the names hold."""
        arguments = self.arguments
        if arguments[:2] == ["--results", "results"]:
            del arguments[:2]
        if not self.name.startswith("-"):
            arguments.remove("--")
        words = shlex.join(["colrun", "script", engine, *options, *arguments])
        return "".join(c if c.isprintable() else "?" for c in words)


def parallel_script(asked: Asked, jobs: str, batch_seconds: float, hosts: Path | None) -> str:
    """A bash script around GNU Parallel."""
    if not re.fullmatch(r"[1-9][0-9]*%?|[+-][0-9]+", jobs):
        raise InvalidValueError(f"--jobs is {shown(jobs)}; it must be a number or a percentage of the cores: 4, 100%.")
    options = ["--jobs", jobs] if jobs != ALL_CORES else []
    options += ["--batch-seconds", f"{batch_seconds:g}"] if batch_seconds != BATCH_SECONDS else []
    options += ["--hosts", str(hosts)] if hosts else []
    return _filled(
        "parallel.sh",
        asked,
        MADE=asked.made("parallel", options),
        JOBS=jobs,
        BATCH=f"{batch_seconds:g}",
        HOSTS=shlex.quote(str(hosts)) if hosts else "",
        COMMAND=_twice_quoted(["colrun", "job", *asked.arguments]),
    )


@dataclass(frozen=True)
class Slurm:
    """What the cluster is asked for."""

    task_minutes: float = TASK_MINUTES
    time: str | None = None
    memory: str = "2G"
    account: str | None = None
    partition: str | None = None
    max_running: int | None = None
    sbatch: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()

    def options(self) -> list[str]:
        """Those that differ from the defaults, as they stand on the command line."""
        found = []
        for each in fields(self):
            value, option = getattr(self, each.name), f"--{each.name.replace('_', '-')}"
            for one in value if isinstance(value, tuple) else () if value == each.default else (value,):
                found += [option, f"{one:g}" if isinstance(one, float) else str(one)]
        return found


def slurm_script(asked: Asked, slurm: Slurm) -> str:
    """A bash script that submits itself as job arrays."""
    pattern = r"[A-Za-z0-9_.,:+@%/=-]+"
    named = {"time": slurm.time, "memory": slurm.memory, "account": slurm.account, "partition": slurm.partition}
    for key, value in named.items():
        if value is not None and not re.fullmatch(pattern, value):
            raise InvalidValueError(f"--{key} is {shown(value)}; it must be one word that sbatch takes.")
    for line in slurm.sbatch:
        if not re.fullmatch(r"--[a-z][^\x00-\x1f]*", line):
            raise InvalidValueError(f"--sbatch is {shown(line)}; it must be an option of sbatch such as --qos=long.")
    lines = [f"--{key}={value}" for key, value in named.items() if key in ("account", "partition") and value]
    return _filled(
        "slurm.sh",
        asked,
        MADE=asked.made("slurm", slurm.options()),
        MEMORY=slurm.memory,
        TIME=slurm.time or task_time(asked.sweep, slurm.task_minutes * 60),
        SIGNAL=str(SIGNAL_SECONDS),
        SBATCH="".join(f"#SBATCH {line}\n" for line in (*lines, *slurm.sbatch)),
        SETUP="".join(f"{line}\n" for line in slurm.setup),
        SECONDS=f"{slurm.task_minutes * 60:g}",
        RUNNING=f"%{slurm.max_running}" if slurm.max_running else "''",
    )


def task_time(sweep: Sweep, seconds: float) -> str:
    """Hours, minutes and seconds for the longest task: a task takes units until it has enough, or all there are."""
    total, unit = 0.0, UNIT_SECONDS
    for entry in entries(sweep):
        each = sweep.experiment.seconds(entry.config, entry.estimators)
        batch = sweep.experiment.batch_size(entry.config)
        total += each * len(entry.seeds)
        unit = max(unit, UNIT_SECONDS + each * min(batch, len(entry.seeds)))
        if total > seconds + unit:
            break
    minutes = math.ceil((MARGIN * min(total, seconds + unit) + START_SECONDS + SIGNAL_SECONDS) / 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def _filled(template: str, asked: Asked, **words: str) -> str:
    text = (Path(__file__).parent / template).read_text(encoding="utf-8")
    words |= {
        "NAME": asked.sweep.name,
        "RESULTS": shlex.quote(("./" if str(asked.results).startswith(("-", "+")) else "") + str(asked.results)),
        "SWEEP": " ".join(_quoted(word) if "," in word else shlex.quote(word) for word in asked.arguments),
    }
    for word in ("SBATCH", "SETUP"):  # whole lines, possibly none
        text = text.replace(f"@{word}@\n", f"@{word}@")
    return re.sub(r"@([A-Z]+)@", lambda match: words[match[1]], text)


def _quoted(word: str) -> str:
    """In quotes even if it needs none: shellcheck takes a bare comma in a list of words for a mistake."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _twice_quoted(command: list[str]) -> str:
    """For the shell that runs the script and for the one that GNU Parallel starts, which reads the words again.

    A brace in a name must not be taken for a replacement string such as {} or {.}: its quotes are closed and opened
    again behind it, which is nothing to a shell.
    """
    return shlex.quote(shlex.join(command).replace("{", "{''") + " {}")
