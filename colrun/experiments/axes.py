"""Axes: what a sweep can vary, how each value is read and checked. Imports no torch.

A value comes from TOML (typed) or from the command line (text). Either way `Axis.parse` returns its canonical form: the
one that is hashed into a job's identity and stored in its rows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from colrun.errors import InvalidValueError, choose, shown
from colrun.networks.lateral import parse_level

Value = str | int | float | bool | None
"""None stands for "not set": a fixed w, or a switch as the reading has it."""

LARGEST = 1_000_000
"""Of columns, steps and other counts: beyond it, a typing error is likelier than a network."""


@dataclass(frozen=True)
class Axis:
    """One axis of a grid."""

    name: str
    parse: Callable[[object], Value]
    default: Value
    help: str
    choices: tuple[str, ...] = field(default=())


def integer(name: str, default: int, help: str) -> Axis:
    """A whole number of 1 or more."""

    def parse(value: object) -> Value:
        number = value
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
            number = int(value)
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= LARGEST:
            raise InvalidValueError(f"{name} is {shown(value)}; it must be a whole number from 1 to {LARGEST}.")
        return number

    return Axis(name, parse, default, help)


def choice(name: str, choices: tuple[str, ...], default: str | None, help: str) -> Axis:
    """One of some names."""
    return Axis(name, lambda value: choose(value, choices, name), default, help, choices)


def switch(name: str, default: bool | None, help: str) -> Axis:
    """True or false."""

    def parse(value: object) -> Value:
        words = {"true": True, "yes": True, "false": False, "no": False}
        found = words.get(value.strip().lower()) if isinstance(value, str) else value
        if not isinstance(found, bool):
            raise InvalidValueError(f"{name} is {shown(value)}; it must be true or false.")
        return found

    return Axis(name, parse, default, help, ("true", "false"))


def lateral_level(name: str, default: float, help: str) -> Axis:
    """A ratio, a percentage or "dense"."""
    return Axis(name, parse_level, default, help)


def step_size(name: str, help: str) -> Axis:
    """A number above 0, or "none" where w does not learn."""

    def parse(value: object) -> Value:
        if value == "none":
            return None
        number = math.nan
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            try:
                number = float(value)
            except (ValueError, OverflowError):
                number = math.nan
        if not 0 < number < math.inf:
            raise InvalidValueError(
                f'{name} is {shown(value)}; it must be a finite number above 0, or "none" for a fixed w.'
            )
        return number

    return Axis(name, parse, None, help)
