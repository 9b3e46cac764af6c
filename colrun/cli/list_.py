"""`colrun list`."""

import shutil
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

from colrun.cli.options import plugin_option
from colrun.estimators import known_estimators
from colrun.figures import known_figures
from colrun.networks import readings
from colrun.networks.cells import CELLS
from colrun.sweep.file import sweep_names
from colrun.tasks import TASKS


def sections() -> dict[str, dict[str, str]]:
    """What there is: kind → name → one line."""
    return {
        "estimators": {f"{k}-k" if entry.windowed else k: entry.summary for k, entry in known_estimators().items()},
        "cells": {name: entry.summary for name, entry in CELLS.items()},
        "readings": readings.SUMMARIES,
        "tasks": {name: entry.summary for name, entry in TASKS.items()},
        "sweeps": {name: _description(path) for name, path in sweep_names().items()},
        "figures": {name: entry.summary for name, entry in known_figures().items()},
    }


def _description(path: Path) -> str:
    """A sweep's own line; a file that cannot be read is listed all the same."""
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))
    except (OSError, ValueError):
        return "(cannot be read)"


KINDS = ("estimators", "cells", "readings", "tasks", "sweeps", "figures")


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@plugin_option
def command(kind: str | None) -> None:
    """List estimators, cells, readings, tasks, sweeps and figures, with one line each.

    \b
    Examples:
      colrun list
      colrun list estimators | cut -f1
      colrun list estimators --plugin my_estimator.py
    """
    chosen = sections()
    if kind is not None:  # one kind alone: tab-separated, for other programs
        for name, summary in chosen[kind].items():
            click.echo(f"{name}\t{summary}")
        return
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines(chosen, room):
        click.echo(line)


def lines(chosen: dict[str, dict[str, str]], room: int | None) -> Iterator[str]:
    """Names and what they are side by side; where there is little room, below each other."""
    width = max(len(name) for section in chosen.values() for name in section)
    indent = width + 4 if room is None or room >= 2 * width + 40 else 6
    for title, section in chosen.items():
        yield f"{title}:"
        for name, summary in section.items():
            if room is None:
                yield f"  {name:{width}}  {summary}"
                continue
            told = textwrap.wrap(summary, max(20, room - indent)) or [""]
            if indent == 6:
                yield f"  {name}"
            else:
                yield f"  {name:{width}}  {told.pop(0)}"
            yield from (" " * indent + line for line in told)
