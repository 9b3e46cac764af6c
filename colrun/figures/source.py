"""What a figure is drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from colrun.figures.style import Style
from colrun.sweep.file import Sweep


@dataclass(frozen=True)
class Source:
    """Rows and plans by sweep, the metric to show and the style."""

    frames: Mapping[str, pd.DataFrame]
    plans: Mapping[str, Sweep | None]
    style: Style
    metric: str = ""

    @property
    def sweep(self) -> str:
        """The only sweep, or the first."""
        return next(iter(self.frames))

    @property
    def frame(self) -> pd.DataFrame:
        """Its rows."""
        return self.frames[self.sweep]

    @property
    def plan(self) -> Sweep | None:
        """What it should hold."""
        return self.plans.get(self.sweep)
