"""Rows parted into panels by what varies in them, and the order in which curves are drawn and listed."""

from collections.abc import Iterable

import pandas as pd

from colrun.drawing.curves import Pair
from colrun.drawing.source import Source
from colrun.drawing.style import Look
from colrun.networks.readings import READINGS, SWITCHES


def panel_axes(source: Source) -> list[str]:
    """What can have panels of its own: every axis of the experiment but that along which curves run."""
    return [axis for axis in source.axes.get(source.sweep, ()) if axis != "lateral" and axis in source.frame]


def split(frame: pd.DataFrame, axes: Iterable[str]) -> list[tuple[str, pd.DataFrame]]:
    """A title and rows per panel: one for each combination of the axes that vary."""
    varying = [axis for axis in axes if frame[axis].nunique(dropna=False) > 1]
    if not varying:
        return [("", frame)]
    if "reading" in varying:  # switches differ between readings by definition, and need not be named beside them
        by_reading = frame.groupby("reading", dropna=False)
        varying = [axis for axis in varying if axis not in SWITCHES or by_reading[axis].nunique().max() > 1]

    def order(pair: tuple[tuple[object, ...], pd.DataFrame]) -> tuple[object, ...]:
        values = dict(zip(varying, pair[0], strict=True))
        reading = values.pop("reading", None)
        return (list(READINGS).index(str(reading)) if reading in READINGS else 9, *map(_sortable, values.values()))

    groups = sorted(((tuple(key), part) for key, part in frame.groupby(varying, dropna=False)), key=order)
    return [(", ".join(titled(axis, value) for axis, value in zip(varying, key, strict=True)), part)
            for key, part in groups]  # fmt: skip


def _sortable(value: object) -> float | str:
    return -float(value) if isinstance(value, float) else str(value)  # large step sizes first


def titled(axis: str, value: object) -> str:
    """A parameter as a title has it."""
    names = {"reading": f"reading “{value}”", "cell": f"{value}", "columns": f"C = {value}", "width": f"W = {value}"}
    if axis == "step_size":
        return "fixed w" if pd.isna(value) else f"α = {value:g}"  # type: ignore[call-overload]
    return names.get(axis, f"{axis} {value}")


def drawing_order(look: dict[Pair, Look]) -> list[Pair]:
    """Blocks below, the method under study on top."""
    return sorted(look, key=lambda pair: (look[pair].width, not look[pair].hollow, pair[1] or 0))


def legend_order(look: dict[Pair, Look]) -> list[Pair]:
    """By the order of the table of estimators, then by name and window."""
    return sorted(look, key=lambda pair: (look[pair].order, pair[0], pair[1] or 0))
