"""Errors a user can mend: one sentence that says what is wrong, where, and what would be right."""

import difflib
import operator
from collections.abc import Iterable
from typing import SupportsIndex


class InvalidValueError(ValueError):
    """A value that cannot be used. The command line prints it without a traceback and exits with code 2."""


class StoreError(Exception):
    """The results cannot be read or written: not the fault of a job, so that the command stops, with exit code 1."""


def shown(value: object) -> str:
    """A value for a message: as Python writes it, shortened, since a file or a command line may hold anything."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write out numbers of more than 4300 digits
        text = f"a number of about {int(value.bit_length() * 0.30103)} digits" if isinstance(value, int) else "…"
    return text if len(text) <= 100 else f"{text[:80]}…{text[-10:]}"


def choose(value: object, allowed: Iterable[str], what: str) -> str:
    """Return `value` if it is one of `allowed`, or say which names there are and which one is close."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    lower = {name.lower(): name for name in names}
    close = [lower[name] for name in difflib.get_close_matches(shown(value).strip("'").lower(), lower, n=1)]
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidValueError(f"{what} {shown(value)} is not known; it must be one of {', '.join(names)}.{hint}")


def positive_int(value: object, what: str, least: int = 1) -> int:
    """Return `value` as an int if it is a whole number (also one of numpy's) of at least `least`."""
    number = value if type(value) is int else None  # asking for a protocol takes as long as drawing a small tensor
    if number is None and isinstance(value, SupportsIndex) and not isinstance(value, bool):
        try:
            number = operator.index(value)
        except TypeError:  # numpy's bool and float tensors have the method, but refuse
            number = None
    if number is None or number < least:
        raise InvalidValueError(f"{what} is {shown(value)}; it must be a whole number, {least} or more.")
    return number
