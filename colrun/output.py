"""Files that a user asks for by name: written whole, or what was there stays."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from colrun.errors import InvalidValueError


@contextmanager
def writing(output: Path) -> Iterator[Path]:
    """Where to write: a name beside `output` that takes its place at the end, and is gone after any failure.

    Devices and pipes, such as /dev/stdout, are written to as they are, and a link to a file stays a link.
    """
    refuse_folder(output)
    special = output.exists() and not output.is_file()
    target = output if special else output.resolve()
    temporary = target if special else target.with_name(f"{target.name}.tmp")
    try:
        yield temporary
        if not special:
            temporary.replace(target)
    except OSError as error:
        raise InvalidValueError(f"cannot write {output}: {error.strerror or error}.") from None
    finally:
        if not special:
            with suppress(OSError):
                temporary.unlink()


def refuse_folder(output: Path) -> None:
    """Say that a file's name is wanted, before any work."""
    if output.is_dir():
        raise InvalidValueError(f"cannot write {output}: it is a folder; give the name of a file.")
