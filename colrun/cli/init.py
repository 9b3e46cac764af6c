"""`colrun init`."""

import shutil
from pathlib import Path

import click

from colrun.errors import InvalidValueError
from colrun.sweep.file import brought


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
def command(folder: Path) -> None:
    """Copy colrun's sweep files into DIR/sweeps, to edit them; commands run in DIR then take those.

    Files that are there stay as they are.

    \b
    Examples:
      colrun init
      colrun init my-project
    """
    target, origin = folder / "sweeps", brought("sweeps", "sweeps")
    if not origin.is_dir():
        raise InvalidValueError(f"there are no sweep files at {origin}; install colrun again.")
    if target.is_dir() and target.samefile(origin):
        raise InvalidValueError(f"{target} are colrun's own sweep files; give another folder.")
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(origin.glob("*.toml")):
        there = (target / path.name).exists()
        if not there:
            shutil.copy(path, target / path.name)
        click.echo(f"{target / path.name}" + (" (was there, stays)" if there else ""))
