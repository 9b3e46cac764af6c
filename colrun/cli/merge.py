"""`colrun merge`."""

import sys
from pathlib import Path

import click


@click.command("merge")
@click.argument("folders", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="DIR...")
@click.option(
    "--results",
    "--out",
    "out",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="results folder to join them in; what is there stays",
)
def command(folders: tuple[Path, ...], out: Path) -> None:
    """Join results of several machines that share no folder.

    DIR is a results folder, or that of one sweep, copied from another machine with its links (rsync -a). It is only
    read. Rows that are there already are left out; if the same job has different numbers, nothing is written.

    \b
    Example:
      colrun merge from-machine-1 from-machine-2 --results results
    Exit codes: 0 done, 1 a part was broken or the disk is full, 2 refused, 130 interrupted,
    143 terminated; run it again to go on.
    """
    from colrun.store.merge import merge

    lost = 0
    for done in merge(folders, out):
        lost += len(done.broken)
        for each in done.broken:
            click.echo(f"broken part, left out; `colrun sweep` runs its jobs again: {each}", err=True)
        before = done.rows - done.new
        click.echo(
            f"{done.paths.sweep.name}: {done.rows:,} rows from {done.sources} folder(s), {before:,} there "
            f"before, {done.new:,} new → {done.paths.sweep}"
        )
    if lost:
        sys.exit(1)
