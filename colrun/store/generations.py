"""Generations: numbered folders of numbered parts, in which every name is taken once only.

A process writes a part as the number after the last one it knows. If another process was faster, the name is taken; it
then reads what came, leaves that out of its own rows and tries the next number. So whoever publishes has seen every
part before its own, and no row is published twice, with no lock that a killed process could leave behind.

A compaction ends a generation in the same way: it takes the next number with a *seal*, a part without rows that names
the folder of the successor. Nothing can be published behind a seal; whoever meets one completes the switch.
"""

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

from colrun.errors import StoreError
from colrun.store.parts import BrokenPartError, read_index
from colrun.store.paths import Paths, explained, switch_link, unique

NAME = re.compile(r"[0-9]{6}-([0-9]{8})\.parquet")
GONE = "_gone"
"""In a generation: a folder of empty files, named as parts that were set aside and whose numbers stay taken."""
GARBAGE_SECONDS = 24 * 3600.0
"""After this time a temporary file is one that a killed process left."""


def part_path(folder: Path, number: int, generation: str = "") -> Path:
    """Where that part of a generation is; the generation in the name keeps readers from mixing two of them."""
    return folder / f"{generation or folder.name}-{number:08d}.parquet"


def current(paths: Paths) -> Path:
    """The newest generation, which `rows` points to or soon will."""
    with explained(paths.sweep):
        number = max((int(name) for name in os.listdir(paths.generations) if name.isdigit()), default=1)
        while (paths.generations / f"{number + 1:06d}").is_dir():  # a network filesystem may list what was
            number += 1
    return paths.generations / f"{number:06d}"


def names_in(folder: Path) -> list[str]:
    """Its parts; nothing if the generation is gone."""
    try:
        return [name for name in os.listdir(folder) if NAME.fullmatch(name)]
    except FileNotFoundError:
        return []


def gone_in(folder: Path) -> set[str]:
    """Names of parts that were set aside."""
    return set(names_in(folder / GONE))


def last_number(folder: Path, known: int = 0) -> int:
    """The highest number that was ever taken. From one that is `known` on it looks no further than it must.

    To list a generation of many parts before and after every unit would cost more than anything else.
    """
    number = known or max((int(name[7:15]) for name in (*names_in(folder), *gone_in(folder))), default=0)
    while (path := part_path(folder, number + 1)).exists() or (folder / GONE / path.name).exists():
        number += 1
    return number


def successor(path: Path) -> str | None:
    """If this part is a seal: the name of the temporary folder that becomes the next generation."""
    try:
        return read_index(path).extra.get("next")
    except (BrokenPartError, FileNotFoundError):
        return None


def settle(paths: Paths, known: Path | None = None, upto: int = 0) -> Path:
    """Complete a switch that a compaction began, whoever began it, and return the current generation.

    `upto` is a number that the generation `known` is known to have.
    """
    while True:
        folder = current(paths)
        sealed = part_path(folder, last_number(folder, upto if folder == known else 0))
        following = successor(sealed)
        if following is None:
            break
        target = paths.generations / f"{int(folder.name) + 1:06d}"
        with explained(paths.sweep):
            try:
                os.rename(paths.temporary / following, target)
            except OSError:  # another process did it
                if not target.exists() and current(paths) == folder:
                    raise StoreError(
                        f"{sealed} ends this generation, but its successor {paths.temporary / following} is gone. "
                        "Remove the former to go on with the rows as they are."
                    ) from None
    with explained(paths.sweep):
        while os.readlink(paths.rows) != str(_link_to(folder)):
            switch_link(paths, folder)
            folder = current(paths)
    return folder


def _link_to(folder: Path) -> Path:
    return Path("_generations") / folder.name


def set_part_aside(paths: Paths, part: Path, folder: Path) -> None:
    """Move a part out of readers' sight. A marker keeps its number from being taken again."""
    with explained(paths.sweep), contextlib.suppress(FileNotFoundError):
        folder.mkdir(parents=True, exist_ok=True)
        real = part.parent.resolve() / part.name
        if NAME.fullmatch(part.name):
            (real.parent / GONE).mkdir(exist_ok=True)
            (real.parent / GONE / real.name).touch()
        os.replace(real, unique(folder, part.name) if (folder / part.name).exists() else folder / part.name)


def discard(paths: Paths, folder: Path) -> None:
    """Remove a folder: out of everyone's reach in one rename, then file by file."""
    doomed = unique(paths.temporary, "discard")
    with contextlib.suppress(OSError):
        os.rename(folder, doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def tidy(paths: Paths) -> None:
    """Finish what killed processes began and remove what they left. Safe at any time, by any process."""
    if not paths.rows.is_symlink():
        return
    folder = settle(paths)
    for older in sorted(paths.generations.iterdir()):
        if older.name < folder.name:
            discard(paths, older)
    probe = unique(paths.temporary, "now")
    with explained(paths.sweep):
        probe.touch()  # by the clock that stamped the others, which may be a file server's
        now = probe.stat().st_mtime
        probe.unlink()
    for left in paths.temporary.iterdir():
        with contextlib.suppress(OSError):
            if now - left.lstat().st_mtime > GARBAGE_SECONDS:
                discard(paths, left) if left.is_dir() and not left.is_symlink() else left.unlink()


def wait_a_little(attempt: int) -> None:
    """Before trying again; longer each time, as a network filesystem may need a while to show what others wrote."""
    time.sleep(min(1.0, 0.005 * 2 ** min(attempt, 8)))
