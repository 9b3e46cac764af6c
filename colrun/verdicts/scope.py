"""The rows that a claim is about: of the paper's setting, by estimator, level and step size."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import pandas as pd

from colrun.estimators import EstimatorName
from colrun.networks.readings import READINGS, SWITCHES
from colrun.verdicts.verdict import NoDataError

MASTER_USER = EstimatorName("master-user")
NO_META = EstimatorName("master-user-no-meta")
LEVELS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Of every figure, and the dense network, C-1."""
SPARSE = 0.01
"""The highest level at which laterals are few."""
SEEDS = 100
"""Networks per point in the paper and in every sweep here."""
SETTING = {"columns": 20, "width": 50, "steps": 50, "inputs": 50}
METRICS = ("alignment", "mae", "mean_abs_truth")
"""What claims are about."""
Levels = Callable[[float], bool]


def tbptt(*windows: int) -> list[EstimatorName]:
    """Sliding windows by length."""
    return [EstimatorName("tbptt", window) for window in windows]


def block(*windows: int) -> list[EstimatorName]:
    """The same in blocks."""
    return [EstimatorName("tbptt-block", window) for window in windows]


def setting(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Rows of the paper's setting alone: sweeps may be extended by other shapes, lengths or single switches."""
    if frame.empty:
        return frame
    keep = pd.Series(True, index=frame.index)
    for name, value in values.items():
        if name in frame:
            keep &= frame[name] == value
    for reading, switches in READINGS.items():
        for name in SWITCHES:
            if name in frame:
                keep &= (frame["reading"] != reading) | (frame[name] == getattr(switches, name))
    frame = frame[keep]
    if "dtype" in frame and frame["dtype"].nunique() > 1:  # the same networks twice: what there is most of
        frame = frame[frame["dtype"] == frame["dtype"].mode().iloc[0]]
    return frame


@dataclass(frozen=True)
class Scope:
    """The rows of some estimators at some levels and step sizes; the diverged ones are counted and then left out."""

    sweep: str
    rows: pd.DataFrame

    @property
    def size(self) -> tuple[int, int]:
        """Rows, and diverged ones among them."""
        return len(self.rows), int(self.rows["diverged"].sum())

    @cached_property
    def levels(self) -> list[float]:
        """Lateral ratios, in order."""
        return sorted(self.rows["lateral"].unique())

    @cached_property
    def step_sizes(self) -> list[float]:
        """Step sizes, the largest first, as the paper has them."""
        return sorted(self.rows["step_size"].dropna().unique(), reverse=True)

    def has(self, name: EstimatorName) -> bool:
        """Whether there are rows of this estimator."""
        return bool(is_of(self.rows, name).any())

    def values(
        self, name: EstimatorName, level: float, step_size: float | None = None, metric: str = "alignment"
    ) -> "pd.Series[float]":
        """A metric by seed, of networks that did not diverge; without a step size, that of the only one there is."""
        steps = self.step_sizes
        step = step_size if step_size is not None else steps[0] if len(steps) == 1 else 0.0
        found = self._points.get((name.family, name.window or 0, level, step))
        return self.rows[metric][:0] if found is None else found[metric]

    @cached_property
    def _points(self) -> dict[tuple[str, int, float, float], pd.DataFrame]:
        """Rows by seed for every (estimator, window, level, step size); 0 where there is no window or step size."""
        needed = ["seed", "estimator", "window", "lateral", "step_size", *METRICS]
        rows = self.rows.loc[~self.rows["diverged"], needed].fillna({"window": 0, "step_size": 0.0})
        found = {}
        for key, group in rows.groupby(["estimator", "window", "lateral", "step_size"]):
            family, window, level, step = cast(tuple[str, float, float, float], key)
            found[family, int(window), level, step] = _by_seed(group)
        return found

    def label(self, level: float) -> str:
        """A level as figures write it."""
        return "dense" if level == self.rows["columns"].max() - 1 else f"{100 * level:g} %"

    def notes(self, wanted: Iterable[float]) -> list[str]:
        """What is missing: levels, networks, or networks in some points only."""
        found = []
        missing = [self.label(level) for level in wanted if level not in set(self.levels)]
        if missing:
            found.append(f"{self.sweep}: no rows at {', '.join(missing)}")
        points = self.rows.groupby(["estimator", "window", "lateral", "step_size"], dropna=False)["seed"].nunique()
        least, most = int(points.min()), int(points.max())
        if least < SEEDS:
            count = f"{least}" if least == most else f"{least} to {most}"
            found.append(f"{self.sweep}: n = {count} of {SEEDS} networks per point")
        return found


def take(
    sweep: str,
    frame: pd.DataFrame,
    estimators: Sequence[EstimatorName],
    levels: Levels = lambda _: True,
    step_sizes: Sequence[float] = (),
    **values: object,
) -> Scope:
    """The rows in question, or the reason why there are none: every estimator is needed, and two networks."""
    if frame.empty:
        raise NoDataError(f"no rows of {sweep}")
    rows = setting(frame, **{**SETTING, **values})
    if step_sizes:
        rows = rows[rows["step_size"].isin(step_sizes)]
    rows = rows[rows["lateral"].map(levels).astype(bool)]
    for name in estimators:
        if not is_of(rows, name).any():
            raise NoDataError(f"{sweep} has no rows of {name} in scope")
    if rows["seed"].nunique() < 2:
        raise NoDataError(f"{sweep} has one network only, too few for a standard error")
    wanted = pd.Series(False, index=rows.index)
    for name in estimators:
        wanted |= is_of(rows, name)
    return Scope(sweep, rows[wanted])


def beside(sweep: str, frame: pd.DataFrame, estimators: Sequence[EstimatorName], like: Scope) -> Scope | None:
    """The same levels and step sizes for estimators shown beside a claim that decide nothing; None if absent."""
    try:
        found = take(sweep, frame, estimators, lambda level: level in set(like.levels), like.step_sizes)
    except NoDataError:
        return None
    return found


def _by_seed(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per seed; were there several, as of an axis that is not known here, their mean."""
    if not rows["seed"].is_unique:
        rows = rows.groupby("seed", as_index=False)[list(METRICS)].mean()
    return rows.set_index("seed")


def is_of(rows: pd.DataFrame, name: EstimatorName) -> "pd.Series[bool]":
    """Which rows are of an estimator."""
    window = rows["window"].isna() if name.window is None else rows["window"] == name.window
    return (rows["estimator"] == name.family) & window
