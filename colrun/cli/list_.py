"""`colrun list`."""

import click

from colrun.estimators import ESTIMATORS
from colrun.networks import readings
from colrun.networks.cells import CELLS


def sections() -> dict[str, dict[str, str]]:
    """What there is: kind → name → one line."""
    return {
        "estimators": {f"{k}-k" if entry.windowed else k: entry.summary for k, entry in ESTIMATORS.items()},
        "cells": {name: entry.summary for name, entry in CELLS.items()},
        "readings": readings.SUMMARIES,
    }


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(list(sections())))
def command(kind: str | None) -> None:
    """List estimators, cells and readings, with one line each.

    \b
    Examples:
      colrun list
      colrun list estimators | cut -f1
    """
    chosen = sections()
    if kind is not None:  # one kind alone: tab-separated, for other programs
        for name, summary in chosen[kind].items():
            click.echo(f"{name}\t{summary}")
        return
    width = max(len(name) for section in chosen.values() for name in section)
    for title, section in chosen.items():
        click.echo(f"{title}:")
        for name, summary in section.items():
            click.echo(f"  {name:{width}}  {summary}")
