"""Generations: numbered folders of numbered parts, in which every name is taken once only.

A process writes a part as the number after the last one it knows. If another process was faster, the name is taken; it
then reads what came, leaves that out of its own rows and tries the next number. So whoever publishes has seen every
part before its own, and no row is published twice, with no lock that a killed process could leave behind.

A compaction ends a generation in the same way: it takes the next number with a *seal*, a part without rows that names
the folder of the successor. Nothing can be published behind a seal; whoever meets one completes the switch. A
generation is removed only when it has ended so and another was read that holds all of its rows.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from colrun.errors import StoreError
from colrun.store.files import is_folder, kind_of, listed, require_folder
from colrun.store.parts import BrokenPartError, PartIndex, read_footer, read_index, verify_part
from colrun.store.paths import Paths, explained, part_names, switch_link, sync_folder, unique
from colrun.store.records import TEMPORARY
from colrun.sweep.seeds import Seeds

GONE = "_gone"
"""In a generation: a folder of empty files, named as parts that were set aside and whose numbers stay taken."""
GARBAGE_SECONDS = 24 * 3600.0
"""After this time a temporary file is one that a killed process left."""
LAST_PART, LAST_GENERATION = 99_999_999, 999_999


def part_path(folder: Path, number: int, generation: str = "") -> Path:
    """Where that part of a generation is; the generation in the name keeps readers from mixing two of them."""
    if number > LAST_PART:
        raise StoreError(f"{folder} has a part of the highest number there is; remove it if colrun has not written it.")
    return folder / f"{generation or folder.name}-{number:08d}.parquet"


def following(folder: Path) -> Path:
    """The generation after this one."""
    number = int(folder.name) + 1
    if number > LAST_GENERATION:
        raise StoreError(f"{folder} has the highest number there is; remove it if colrun has not written it.")
    return folder.with_name(f"{number:06d}")


def numbers_in(folder: Path) -> list[int]:
    """Of its parts, in order; nothing if the generation is gone."""
    return [int(name[7:15]) for name in part_names(folder) if name[:6] == folder.name]


def gone_in(folder: Path) -> set[int]:
    """Numbers of parts that were set aside."""
    return {int(name[7:15]) for name in part_names(folder / GONE) if name[:6] == folder.name}


def last_number(folder: Path, known: int = 0) -> int:
    """The highest number that was ever taken. From one that is `known` on it looks no further than it must.

    To list a generation of many parts before and after every unit would cost more than anything else.
    """
    number = known or max((*numbers_in(folder), *gone_in(folder)), default=0)
    while number < LAST_PART and _taken(part_path(folder, number + 1)):
        number += 1
    return number


def _taken(path: Path) -> bool:
    return os.path.lexists(path) or os.path.lexists(path.parent / GONE / path.name)


def seal_of(path: Path) -> PartIndex | None:
    """If this part is a seal, its index: it names the temporary folder that becomes the next generation."""
    try:
        index = read_index(path)
    except (BrokenPartError, FileNotFoundError):
        return None
    return index if index.extra and not index.done else None


def last_seal(folder: Path, upto: int = 0) -> PartIndex | None:
    """The seal of a generation that has ended. `upto` is a number that it is known to have."""
    number = last_number(folder, upto)
    return seal_of(part_path(folder, number)) if number else None


def covers(newer: Path, older: Path, seal: PartIndex, verify: bool = False) -> bool:
    """Whether all that is done in a generation that has ended is done in another, but for what was left out.

    `verify` reads every byte of the other, and takes nothing for granted of a part that cannot be read.
    """
    left_out = set(seal.extra.get("without", ()))
    have, wanted = _jobs(newer, verify_part if verify else read_footer), _jobs(older, read_footer)
    for removed in seal.extra.get("removed", ()):
        have.add(removed)
    if verify and wanted.broken:
        return False
    return all(seeds <= have.seeds(*job) for job, seeds in wanted if job[1] not in left_out)


class _Jobs:
    """Seeds by config and estimator."""

    def __init__(self) -> None:
        self.ranges: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self.broken = 0

    def add(self, done: dict[str, dict[str, str]]) -> None:
        for config, groups in done.items():
            for joined, text in groups.items():
                for name in joined.split(","):
                    self.ranges.setdefault((config, name), []).extend(Seeds.parse(text).ranges)

    def seeds(self, config: str, name: str) -> Seeds:
        return Seeds.merged(self.ranges.get((config, name), []))

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Seeds]]:
        return ((job, self.seeds(*job)) for job in self.ranges)


def _jobs(folder: Path, read: Callable[[Path], tuple[PartIndex, int]]) -> _Jobs:
    found = _Jobs()
    for name in part_names(folder):
        try:
            found.add(read(folder / name)[0].done)
        except BrokenPartError:
            found.broken += 1
    return found


def settle(paths: Paths, known: Path | None = None, upto: int = 0) -> Path:
    """Complete a switch that a compaction began, whoever began it, and return the current generation.

    It is the one that `rows` names, or follows from that by seals. `upto` is a number that the generation `known` is
    known to have.
    """
    while True:
        folder = paths.generation()
        while seal := last_seal(folder, upto if folder == known else 0):
            folder = _succeed(paths, folder, seal)
        with explained(paths.sweep):
            if os.readlink(paths.rows) == str(Path("_generations") / folder.name):
                return folder
            if is_folder(folder):  # else another process has gone further
                switch_link(paths, folder)


def _succeed(paths: Paths, folder: Path, seal: PartIndex) -> Path:
    """The generation after one that has ended: the one that its seal names, or, where that has gone, the same parts.

    Nothing can be published behind a seal, so whoever is first to rename may be: every candidate holds the same rows.
    """
    target, named = following(folder), paths.temporary / seal.extra["next"]
    try:
        if kind_of(target) == 0:
            if is_folder(named) and covers(named, folder, seal):
                _rename(named, target)
            else:
                candidate = _relinked(paths, folder, target.name)
                _rename(candidate, target)
                discard(paths, candidate)
        if is_folder(target) and covers(target, folder, seal):
            return target
    except FileNotFoundError:
        pass
    if not is_folder(folder):  # another process has done it all
        return paths.generation()
    raise StoreError(
        f"{target} is in the place of the generation after {folder.name}, whose rows it does not hold; move it away."
    )


def _rename(candidate: Path, target: Path) -> None:
    with contextlib.suppress(OSError):  # another process may have done it
        os.rename(candidate, target)


def _relinked(paths: Paths, folder: Path, generation: str) -> Path:
    """A candidate with the parts of a generation that has ended, without copying any."""
    with explained(paths.sweep):
        candidate = unique(paths.temporary, "generation")
        candidate.mkdir()
        with contextlib.suppress(FileNotFoundError):  # the generation is gone: another process was faster
            for place, number in enumerate(numbers_in(folder)[:-1], start=1):
                os.link(part_path(folder, number), part_path(candidate, place, generation), follow_symlinks=False)
        sync_folder(candidate)
    return candidate


def set_part_aside(paths: Paths, part: Path, folder: Path) -> None:
    """Move a part out of readers' sight. A marker keeps its number from being taken again."""
    with explained(paths.sweep), contextlib.suppress(FileNotFoundError):
        require_folder(folder)
        require_folder(part.parent / GONE)
        folder.mkdir(parents=True, exist_ok=True)
        (part.parent / GONE).mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(part.parent / GONE / part.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        target = folder / part.name
        os.replace(part, unique(folder, part.name) if os.path.lexists(target) else target)


def discard(paths: Paths, folder: Path) -> None:
    """Remove a folder: out of everyone's reach in one rename, then file by file."""
    doomed = unique(paths.temporary, "discard")
    with contextlib.suppress(OSError):
        os.rename(folder, doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def tidy(paths: Paths) -> None:
    """Finish what killed processes began and remove what they left. Safe at any time, by any process."""
    paths.check_folders()
    if not paths.rows.is_symlink():
        return
    folder = settle(paths)
    for name in paths.generation_names():
        older = paths.generations / name
        if name >= folder.name or not (seal := last_seal(older)):
            continue
        try:
            if covers(folder, older, seal, verify=True):
                discard(paths, older)
        except FileNotFoundError:  # compacted meanwhile by another process, which tidies too
            return
    probe = unique(paths.temporary, "now")
    with explained(paths.sweep):
        probe.touch()  # by the clock that stamped the others, which may be a file server's
        now = probe.stat().st_mtime
        probe.unlink()
    for name in listed(paths.temporary):
        left = paths.temporary / name
        with contextlib.suppress(OSError):
            if TEMPORARY.fullmatch(name) and now - left.lstat().st_mtime > GARBAGE_SECONDS:
                discard(paths, left) if is_folder(left) else left.unlink()


def wait_a_little(attempt: int) -> None:
    """Before trying again; longer each time, as a network filesystem may need a while to show what others wrote."""
    time.sleep(min(1.0, 0.005 * 2 ** min(attempt, 8)))
