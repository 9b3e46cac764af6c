"""What lies in a sweep's folder and is not colrun's: named, left alone, and never counted."""

import re
from collections.abc import Iterator
from pathlib import Path

from colrun.store.files import is_file, is_folder, listed
from colrun.store.generations import GONE, last_seal
from colrun.store.paths import Paths
from colrun.store.records import FAILURE, PART, RUN


def strays(paths: Paths) -> list[Path]:
    """Names that colrun does not write, and things of another type than it writes under such a name."""
    current = paths.generation()
    found = list(_others(paths, current))
    found += [current / name for name in listed(current) if not PART.fullmatch(name) and name != GONE]
    found += [*_not_records(paths.runs, RUN), *_not_records(paths.failed, FAILURE)]
    return found


def _others(paths: Paths, current: Path) -> Iterator[Path]:
    """Besides the current generation there may be older ones that have ended and are about to be removed."""
    generations = paths.generation_names()
    for name in listed(paths.generations):
        path = paths.generations / name
        if path != current and not (name in generations and name < current.name and last_seal(path)):
            yield path


def _not_records(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    for name in listed(folder):
        if not (pattern.fullmatch(name) and is_file(folder / name)):
            yield folder / name


def named(paths: Paths) -> str:
    """A line about them, empty if there are none."""
    found = strays(paths) if is_folder(paths.generations) else []
    some = ", ".join(str(path.relative_to(paths.sweep)) for path in found[:3]) + (", …" if len(found) > 3 else "")
    return f"not colrun's, left alone: {some}" if found else ""
