"""`colrun compact`."""

import sys
from pathlib import Path

import click

from colrun.cli.options import plugin_option, results_option, sweeps_argument


@click.command("compact")
@sweeps_argument
@results_option
@plugin_option
def command(sweeps: tuple[str, ...], results: Path) -> None:
    """Merge the parts of a sweep into few files. Safe while the sweep runs, and at any moment to interrupt.

    \b
    Example:
      colrun compact rnn-alignment
    Exit codes: 0 done, 1 a part was broken or the disk is full, 2 bad input.
    """
    from colrun.store import strays
    from colrun.store.compact import ChangedMeanwhileError, compact
    from colrun.store.known import stored_name
    from colrun.store.paths import Paths, sweep_folder

    lost = 0
    for name in sweeps:
        paths = Paths.of(results, stored_name(results, name))
        sweep_folder(paths.sweep)
        try:
            before, after, broken = compact(paths)
        except ChangedMeanwhileError:
            click.echo(f"{paths.sweep.name}: another process compacted it meanwhile; nothing to do")
            continue
        lost += len(broken)
        for each in broken:
            click.echo(
                f"broken part, set aside in {paths.broken}; `colrun sweep` runs its jobs again: {each}", err=True
            )
        if others := strays.named(paths):
            click.echo(f"{paths.sweep.name}: {others}", err=True)
        click.echo(f"{paths.sweep.name}: {before} part(s) → {after}")
    if lost:
        sys.exit(1)
