"""The axis of lateral connections: logarithmic, in percent, with 0 on it behind a break."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter
from numpy.typing import NDArray

from colrun.drawing.layout import points
from colrun.drawing.style import Style

LABEL = "lateral connections (% of own)"
ZERO = 10**0.6
"""How far 0 stands below the least level, as a factor."""


class LateralAxis:
    """For panels that share the same levels; `dense` is the level of the dense network, C-1."""

    def __init__(self, levels: Iterable[float], dense: float) -> None:
        self.levels = sorted(set(levels))
        self.dense = dense
        positive = [level for level in self.levels if level > 0] or [1.0]
        self._zero = min(positive) / ZERO
        self._last = max(positive)

    def x(self, levels: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Where levels stand, in percent."""
        given = np.asarray(levels, dtype=float)
        return 100 * np.where(given == 0, self._zero, given)

    def apply(self, ax: Axes, style: Style, label: bool = True, narrow: bool = False) -> None:
        """Scale, limits, ticks at every level, and labels at those that have room for one.

        In a narrow panel, with another close to its right, "dense" ends at its tick.
        """
        ax.set_xscale("log")
        ax.set_xlim(float(min(self.x(self.levels))) / 1.25, 100 * self._last * 1.15)
        spots = self.x(self.levels)
        named = self._named(ax, style, narrow)
        ax.xaxis.set_major_locator(FixedLocator([spots[n] for n in named]))
        ax.xaxis.set_major_formatter(FixedFormatter([self._text(self.levels[n]) for n in named]))
        ax.xaxis.set_minor_locator(FixedLocator([spots[n] for n in range(len(spots)) if n not in named]))
        ax.xaxis.set_minor_formatter(NullFormatter())
        if narrow and self._is_dense(self.levels[-1]):
            ax.xaxis.get_majorticklabels()[-1].set_horizontalalignment("right")
        if label:
            ax.set_xlabel(LABEL, labelpad=2)
        if 0 in self.levels and len(self.levels) > 1:
            self._break(ax, style)

    def _text(self, level: float) -> str:
        return "dense" if self._is_dense(level) else f"{100 * level:g}"

    def _is_dense(self, level: float) -> bool:
        return 0 < level == self.dense

    def _named(self, ax: Axes, style: Style, narrow: bool) -> list[int]:
        """Levels with a label: dense, 0, powers of ten where they fit, and the others if all of them fit."""
        low, high = (np.log10(limit) for limit in ax.get_xlim())
        spots = (np.log10(self.x(self.levels)) - low) / (high - low) * points(ax)[0]

        taken: list[tuple[float, float]] = []

        def fits(n: int) -> bool:
            width = 0.66 * style.small * len(self._text(self.levels[n])) + 0.5 * style.small
            left = spots[n] - (width if narrow and self._is_dense(self.levels[n]) else width / 2)
            free = all(left >= end or left + width <= start for start, end in taken)
            if free:
                taken.append((left, left + width))
            return free

        ranks: list[list[int]] = [[], [], []]
        for n, level in enumerate(self.levels):
            ten = level > 0 and abs(np.log10(level) - round(np.log10(level))) < 1e-9
            ranks[0 if level == 0 or self._is_dense(level) else 1 if ten else 2].append(n)
        named = [n for n in ranks[0] if fits(n)] + [n for n in reversed(ranks[1]) if fits(n)]
        others = [n for n in ranks[2] if fits(n)]
        return sorted(named + (others if len(others) == len(ranks[2]) else []))

    def _break(self, ax: Axes, style: Style) -> None:
        """Two strokes through the axis between 0 and the least level."""
        low, high = (np.log10(limit) for limit in ax.get_xlim())
        at = (np.log10(100 * self._zero * ZERO**0.5) - low) / (high - low)
        wide, tall = (2.2 * style.line / side for side in points(ax))
        gap = {"transform": ax.transAxes, "clip_on": False, "zorder": 5}
        ax.plot([at - wide / 2, at + wide / 2], [0, 0], color="white", linewidth=2.5 * style.line, **gap)  # type: ignore[arg-type]
        for side in (-0.5, 0.5):
            x = at + side * wide
            ax.plot([x - wide / 2, x + wide / 2], [-tall, tall], color="0.15", linewidth=0.6 * style.line, **gap)  # type: ignore[arg-type]
