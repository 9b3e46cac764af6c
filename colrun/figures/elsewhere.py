"""A figure drawn by another process than the one that talks to the user."""

import os
import warnings
from pathlib import Path

from colrun.figures.make import write
from colrun.store.kept import remembering

_load = remembering(2)


def write_elsewhere(
    folder: Path, name: str, results: Path, style: str, metric: str | None, targets: list[Path]
) -> tuple[list[str], list[Warning | str]]:
    """As `write` in a working folder, with what it warned of, which is the other process's to say."""
    os.chdir(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lines = write(name, results, style, metric, targets, _load)
    return lines, [each.message for each in caught]
