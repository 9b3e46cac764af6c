"""Axes: what a sweep can vary, how each value is read and checked. Imports no torch.

A value comes from TOML (typed) or from the command line (text). Either way `Axis.parse` returns its canonical form: the
one that is hashed into a job's identity and stored in its rows. The fields of an experiment's config are its axes, each
made by one of the functions here:

    columns: int = integer(20, "C, number of columns")
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from colrun.errors import InvalidValueError, choose, shown
from colrun.networks.lateral import meant_as_percent, parse_level

Value = str | int | float | bool | None
"""None stands for "not set": a fixed w, or a switch as the reading has it."""

LARGEST = 1_000_000
"""Of columns, steps and other counts: beyond it, a typing error is likelier than a network."""


class Always:
    """In place of the default that an axis was introduced with, where it was there from the beginning."""


ALWAYS = Always()


@dataclass(frozen=True)
class Axis:
    """One axis of a grid."""

    name: str
    read: Callable[[str, object], Value]
    """The value in canonical form; is told the axis' name, for messages."""
    default: Value
    """What a grid takes where it says nothing. None may stand for what another axis decides."""
    help: str
    choices: tuple[str, ...] = ()
    introduced: Value | Always = ALWAYS
    """The default with which an axis came to an experiment that had rows already, never to be changed: at this value
    the axis is left out of a job's identity, so that the jobs from before it keep theirs, and older rows hold it."""

    note: Callable[[object], str | None] | None = None
    """What a value means, where it is often meant otherwise; None where it is not."""

    def parse(self, value: object) -> Value:
        return self.read(self.name, value)

    def identifies(self, value: Value) -> bool:
        """Whether the axis enters the identity of a job that has this value."""
        return isinstance(self.introduced, Always) or repr(value) != repr(self.introduced)


def axes_of(config: type) -> tuple[Axis, ...]:
    """The axes of a config, in the order of its fields."""
    return tuple(replace(each.metadata["axis"], name=each.name) for each in fields(config))


def axis(
    read: Callable[[str, object], Value],
    default: Value,
    help: str,
    choices: tuple[str, ...] = (),
    introduced: Value | Always = ALWAYS,
    note: Callable[[object], str | None] | None = None,
) -> Any:
    """A field of a config. It has no default there: configs come from grids, which complete them."""
    return field(metadata={"axis": Axis("", read, default, help, choices, introduced, note)})


def integer(
    default: int | None, help: str, introduced: int | Always = ALWAYS, least: int = 1, most: int = LARGEST
) -> Any:
    """A whole number from `least` to `most`."""

    def read(name: str, value: object) -> Value:
        number = value
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
            number = int(value)
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise InvalidValueError(f"{name} is {shown(value)}; it must be a whole number from {least} to {most}.")
        return number

    return axis(read, default, help, introduced=introduced)


def choice(choices: tuple[str, ...], default: str | None, help: str, introduced: str | Always | None = ALWAYS) -> Any:
    """One of some names."""
    return axis(lambda name, value: choose(value, choices, name), default, help, choices, introduced)


def switch(default: bool | None, help: str, introduced: bool | Always | None = ALWAYS) -> Any:
    def read(name: str, value: object) -> Value:
        words = {"true": True, "yes": True, "false": False, "no": False}
        found = words.get(value.strip().lower()) if isinstance(value, str) else value
        if not isinstance(found, bool):
            raise InvalidValueError(f"{name} is {shown(value)}; it must be true or false.")
        return found

    return axis(read, default, help, ("true", "false"), introduced)


def lateral_level(default: float, help: str) -> Any:
    """A ratio, a percentage or "dense"."""
    return axis(lambda _, value: parse_level(value), default, help, note=meant_as_percent)


def step_size(
    help: str, introduced: float | Always | None = ALWAYS, default: float | None = None, none: str = "for a fixed w"
) -> Any:
    """A number above 0, or "none"."""

    def read(name: str, value: object) -> Value:
        if value == "none":
            return None
        number = math.nan
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            try:
                number = float(value)
            except (ValueError, OverflowError):
                number = math.nan
        if not 0 < number < math.inf:
            raise InvalidValueError(f'{name} is {shown(value)}; it must be a finite number above 0, or "none" {none}.')
        return number

    return axis(read, default, help, introduced=introduced)
