"""The one place that builds paths below the results folder, and the one way to write a file there."""

import contextlib
import errno
import json
import os
import secrets
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError, StoreError
from colrun.store.files import KINDS, is_folder, kind_of, listed, require_folder
from colrun.store.records import GENERATION, LINK, PART
from colrun.sweep.file import check_name


@dataclass(frozen=True)
class Paths:
    """The folder of one sweep."""

    sweep: Path

    @classmethod
    def of(cls, results: str | Path, name: str) -> "Paths":
        """Below `results`, whatever the name."""
        return cls(Path(results) / check_name(name))

    def absolute(self) -> "Paths":
        """The same for a process in another folder."""
        return Paths(self.sweep.absolute())

    @property
    def rows(self) -> Path:
        """The link to the current generation."""
        return self.sweep / "rows"

    @property
    def generations(self) -> Path:
        """All generations, the current one included."""
        return self.sweep / "_generations"

    @property
    def runs(self) -> Path:
        """Provenance."""
        return self.sweep / "_runs"

    @property
    def failed(self) -> Path:
        """Tracebacks."""
        return self.sweep / "_failed"

    @property
    def broken(self) -> Path:
        """Parts set aside."""
        return self.sweep / "_broken"

    @property
    def stale(self) -> Path:
        """Rows of older numerics versions."""
        return self.sweep / "_stale"

    @property
    def temporary(self) -> Path:
        """Files being written."""
        return self.sweep / "_tmp"

    def generation(self) -> Path:
        """The one that `rows` names, else the newest with parts; a link to anywhere else is not followed."""
        if is_folder(self.rows):  # copied without links: good enough to read
            return self.rows
        with contextlib.suppress(OSError):
            match = LINK.fullmatch(os.readlink(self.rows))
            if match and is_folder(self.generations / match[1]):
                return self.generations / match[1]
        found = [self.generations / name for name in self.generation_names()]
        filled = [folder for folder in found if part_names(folder)]
        newest = max(filled or found, default=self.generations / f"{1:06d}")
        require_folder(newest)
        return newest

    def generation_names(self) -> list[str]:
        """Folders that are named as colrun names generations, in order."""
        return [n for n in listed(self.generations) if GENERATION.fullmatch(n) and is_folder(self.generations / n)]

    def parts(self) -> list[Path]:
        """The current parts."""
        folder = self.generation()
        return [folder / name for name in part_names(folder)]

    def check_folders(self) -> None:
        """Refuse a sweep's folder in which anything but a folder is in the place of one."""
        for folder in (self.generations, self.runs, self.failed, self.broken, self.stale, self.temporary):
            require_folder(folder)

    def prepare(self) -> None:
        """Make the folders, and find out now whether they can be written."""
        self.check_folders()
        with explained(self.sweep):
            for folder in (self.sweep, self.generations, self.runs, self.failed, self.temporary):
                folder.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(self.rows):
                folder = self.generation()
                folder.mkdir(exist_ok=True)
                switch_link(self, folder)
            self.check_link()
            probe = unique(self.temporary, "probe")
            probe.write_bytes(b"x")
            probe.unlink()

    def check_link(self) -> None:
        """Refuse results that were copied in a way that turns links into folders."""
        self.check_folders()
        if kind_of(self.rows) not in (0, stat.S_IFLNK):
            raise StoreError(
                f"{self.rows} is {KINDS[kind_of(self.rows)]} and must be a symbolic link into {self.generations.name}: "
                "the results were copied without their links. Copy them again with `cp -a` or `rsync -a`."
            )


def part_names(folder: Path) -> list[str]:
    """Of the parts of a generation, in order; none if it is gone."""
    return [name for name in listed(folder) if PART.fullmatch(name)]


@contextlib.contextmanager
def explained(where: Path) -> Iterator[None]:
    """Turn an operating system's refusal into a sentence."""
    try:
        yield
    except OSError as error:
        hint = {errno.ENOSPC: " Free some space", errno.EDQUOT: " Free some quota"}.get(error.errno or 0)
        then = f"{hint}, then run the same command again: what is done is kept." if hint else ""
        raise StoreError(f"cannot write below {where}: {error.strerror or error}.{then}") from error


def unique(folder: Path, name: str) -> Path:
    """A name that no other process of any host uses."""
    return folder / f"{name}.{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"


def switch_link(paths: Paths, generation: Path) -> None:
    """Point `rows` to a generation in one rename."""
    link = unique(paths.temporary, "rows")
    paths.temporary.mkdir(parents=True, exist_ok=True)
    link.symlink_to(Path("_generations") / generation.name)
    os.replace(link, paths.rows)
    sync_folder(paths.sweep)


def sync_folder(folder: Path) -> None:
    """Flush a rename to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network filesystems cannot flush a folder, and do not need to
            os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _written(paths: Paths, name: str, content: bytes) -> Iterator[Path]:
    """A temporary file, flushed to disk, and gone afterwards."""
    temporary = unique(paths.temporary, name)
    with explained(paths.sweep):
        try:
            with open(temporary, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            yield temporary
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()


def write_atomically(paths: Paths, target: Path, content: bytes) -> None:
    """Write whole or not at all: temporary name, flush, rename."""
    with _written(paths, target.name, content) as temporary:
        os.replace(temporary, target)
        sync_folder(target.parent)


def claim(paths: Paths, target: Path, content: bytes) -> bool:
    """Write whole under a name that nobody has, or not at all: False if the name is taken or its folder is gone."""
    with _written(paths, target.name, content) as temporary:
        try:
            os.link(temporary, target)
        except FileExistsError:
            # NFS also says so when a request that it had granted is sent again: then the file has two names.
            if os.stat(temporary).st_nlink < 2:
                return False
        except FileNotFoundError:
            if temporary.exists() and not target.parent.exists():
                return False
            raise
        with contextlib.suppress(FileNotFoundError):  # the folder was compacted since, with the file
            sync_folder(target.parent)
        return True


def write_json(paths: Paths, target: Path, content: dict[str, Any]) -> None:
    """A JSON file, atomically."""
    write_atomically(paths, target, (json.dumps(content, indent=1, default=str) + "\n").encode())


def sweep_folder(path: str | Path) -> Path:
    """A folder that holds a sweep's rows."""
    folder = Path(path)
    if not folder.is_dir():
        raise InvalidValueError(
            f"there are no results at {folder}; run `colrun sweep` first, or give the sweep's folder."
        )
    return folder.resolve() if folder.is_symlink() else folder  # the user may have made it a link
