"""Files that a user asks for by name: written whole, or what was there stays."""

import errno
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from colrun.errors import InvalidValueError

if TYPE_CHECKING:
    from rich.console import Console

STANDARD = ("-", "/dev/stdout")


def console(stderr: bool = False) -> "Console":
    """A terminal; where NO_COLOR is set it has neither colours nor bold letters."""
    from rich.console import Console

    return Console(stderr=stderr, color_system=None if os.environ.get("NO_COLOR") else "auto")


@contextmanager
def writing(output: Path, mode: int | None = None) -> Iterator[Path]:
    """Where to write: a file that takes the place of `output` at the end, and is gone after any failure.

    Standard output (`-`), devices and pipes get the content at the end. A link stays a link, and a file that is
    replaced keeps its permissions, unless `mode` says which it must have.
    """
    if str(output) in STANDARD:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder, "output")
            _print(Path(folder, "output").read_text(encoding="utf-8"))
        return
    refuse_folder(output)
    try:
        if output.exists() and not output.is_file():
            with tempfile.TemporaryDirectory() as folder:
                yield Path(folder, "output")
                with open(Path(folder, "output"), "rb") as source, open(output, "ab") as sink:
                    shutil.copyfileobj(source, sink)
            return
        target = _resolved(output)
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(None, "it may not be written to")
        temporary = target.with_name(f".colrun-{secrets.token_hex(8)}")
        try:
            yield temporary
            if mode is not None:
                temporary.chmod(mode)
            elif target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            with suppress(OSError):
                temporary.unlink()
    except OSError as error:
        raise InvalidValueError(f"cannot write {output}: {error.strerror or error}.") from None


def _resolved(output: Path) -> Path:
    target = Path(os.path.realpath(output))
    if target.is_symlink():  # links in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _print(text: str) -> None:
    if sys.stdout is None:
        raise InvalidValueError("cannot write: standard output is closed.")
    sys.stdout.write(text)
    sys.stdout.flush()


def refuse_folder(output: Path) -> None:
    """Say that a file's name is wanted, before any work."""
    if output.is_dir():
        raise InvalidValueError(f"cannot write {output}: it is a folder; give the name of a file.")
