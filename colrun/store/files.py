"""The one way to open what lies in a results folder, which may be a stranger's.

Only regular files are read and only real folders are listed: no symbolic link is followed, no pipe is waited for, and
nothing is read that is larger than what colrun writes.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from colrun.errors import StoreError

LARGEST_RECORD = 32 << 20
"""Bytes of a JSON file: it holds the text of a sweep file."""
DEEPEST = 16
"""Lists and tables within each other in a JSON file; colrun writes three."""
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFREG: "a file",
}


class StrangeFileError(Exception):
    """Something that colrun has not written; says what is wrong with it."""


def kind_of(path: Path) -> int:
    """What is there, without following a link; 0 if nothing is."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def is_folder(path: Path) -> bool:
    """Whether there is a real folder."""
    return kind_of(path) == stat.S_IFDIR


def is_file(path: Path) -> bool:
    """Whether there is a regular file."""
    return kind_of(path) == stat.S_IFREG


def require_folder(path: Path) -> None:
    """Refuse anything in the place of a folder but a real one, or nothing."""
    if (kind := kind_of(path)) not in (0, stat.S_IFDIR):
        raise StoreError(f"{path} is {KINDS[kind]} and must be a folder; move it away.")


def listed(folder: Path) -> list[str]:
    """Names in a real folder, in order; none if it is not there."""
    require_folder(folder)
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {error.strerror}.") from None


@contextmanager
def opened(path: Path, largest: int) -> Iterator[tuple[int, int]]:
    """A regular file's descriptor and size."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError:
        if (kind := kind_of(path)) not in (0, stat.S_IFREG):
            raise StrangeFileError(f"is {KINDS[kind]}") from None
        raise
    try:
        facts = os.fstat(handle)
        kind = stat.S_IFMT(facts.st_mode)
        if kind != stat.S_IFREG:
            raise StrangeFileError(f"is {KINDS[kind]}")
        if facts.st_size > largest:
            raise StrangeFileError(f"is larger than {largest >> 20} MiB")
        yield handle, facts.st_size
    finally:
        os.close(handle)


def read_at(handle: int, start: int, length: int) -> bytes:
    """So many bytes, or fewer at the file's end."""
    pieces = []
    while length > 0 and (piece := os.pread(handle, length, start)):
        pieces.append(piece)
        start += len(piece)
        length -= len(piece)
    return b"".join(pieces)


def read_file(path: Path, largest: int) -> bytes:
    """All of a regular file."""
    with opened(path, largest) as (handle, size):
        return read_at(handle, 0, size)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds a table."""
    return parse_json(read_file(path, LARGEST_RECORD))


def parse_json(content: bytes) -> dict[str, Any]:
    """A table, not nested deeper than colrun's own."""
    try:
        found = json.loads(content)
    except RecursionError:
        raise StrangeFileError(f"is nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise StrangeFileError(f"is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise StrangeFileError("is not a table in JSON")
    _check_depth(found, DEEPEST)
    return found


def _check_depth(value: object, left: int) -> None:
    if isinstance(value, dict | list):
        if not left:
            raise StrangeFileError(f"is nested deeper than {DEEPEST} levels")
        for each in value.values() if isinstance(value, dict) else value:
            _check_depth(each, left - 1)
