"""What a figure is drawn from: rows, and plain facts of the sweep and experiment that they are of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from colrun.drawing.style import Style


@dataclass(frozen=True)
class Plan:
    """What a sweep should hold."""

    seeds: int
    """Networks per point."""
    configs: Iterable[tuple[str, Iterable[int], int]]
    """Of every config its id, its seeds and the rows of each: a job is `<id>.<seed>`."""


@dataclass(frozen=True)
class Source:
    """By sweep its rows, plan (None where not known) and axes of its experiment; the style and the metric to show."""

    frames: Mapping[str, pd.DataFrame]
    plans: Mapping[str, Plan | None]
    style: Style
    metric: str = ""
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sweep(self) -> str:
        """The only sweep, or the first."""
        return next(iter(self.frames))

    @property
    def frame(self) -> pd.DataFrame:
        return self.frames[self.sweep]

    @property
    def plan(self) -> Plan | None:
        return self.plans.get(self.sweep)
