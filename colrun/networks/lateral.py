"""Lateral ratios: how many weights a column takes from other columns, against its own.

With ratio s (0.1 means 10 %) and C columns a lateral weight survives with probability p = s/(C-1), which gives a column
s·W lateral feature weights on average against its own W. s = C-1 is the dense network.
"""

import math
from decimal import Decimal

from colrun.errors import InvalidValueError, shown

DENSE = "dense"
FEW = 0.06
"""Below this survival probability lateral weights are few enough for the engine to keep them as a list."""


def parse_level(level: object) -> float | str:
    """A ratio from `"10%"`, `0.1`, `"0.1"` or `"dense"`; `"dense"` stays, as its ratio depends on C."""
    if isinstance(level, str) and level == DENSE:
        return DENSE
    try:
        if isinstance(level, bool):
            raise ValueError
        text = str(level).strip()
        # Decimal, so that "0.3%" and 0.003 are the same float.
        ratio = float(Decimal(text[:-1]) / 100 if text.endswith("%") else Decimal(text))
    except (ArithmeticError, ValueError):
        ratio = math.nan
    if not (math.isfinite(ratio) and ratio >= 0):
        raise InvalidValueError(
            f'lateral level {shown(level)} must be a percentage ("10%"), a ratio of 0 or more (0.1), or "dense".'
        )
    return ratio + 0.0  # one zero: -0.0 would be another job


def meant_as_percent(level: object) -> str | None:
    """What a bare number of 1 or more means, which may have been meant as a percentage."""
    text = str(level).strip()
    if text == DENSE or text.endswith("%"):
        return None
    ratio = parse_level(level)
    if isinstance(ratio, str) or ratio < 1:
        return None
    percent = f"{100 * ratio:g}"
    return (
        f'lateral {text} is a ratio, {percent} percent; write "{text}%" for {text} percent, "{percent}%" if it is meant'
    )


def too_high(ratio: float, columns: int) -> str | None:
    """Why this ratio cannot exist among so many columns, or None if it can."""
    if ratio <= columns - 1:
        return None
    if columns == 1:
        return f"lateral ratio {ratio:g} needs other columns, and a single column has only lateral 0"
    return f"lateral ratio {ratio:g} is above that of the dense network, C-1 = {columns - 1} for {columns} column(s)"


def resolve(level: object, columns: int) -> float:
    """The ratio s of a level for C columns."""
    parsed = parse_level(level)
    ratio = float(columns - 1) if isinstance(parsed, str) else parsed
    reason = too_high(ratio, columns)
    if reason:
        # In the words of the user: a percentage is named as one.
        given, most = (f"lateral level {level!r}: ", f" (0% and {columns - 1}00%)") if "%" in str(level) else ("", "")
        right = f'between 0 and {columns - 1}{most}, or "dense"' if columns > 1 else "0"
        raise InvalidValueError(f"{given}{reason}; it must be {right}.")
    return ratio


def survival(ratio: float, columns: int) -> float:
    """p, the probability that a maskable weight exists; a single column has no neighbours, so p = 0."""
    return ratio / (columns - 1) if columns > 1 else 0.0
