"""The rows that a claim is about: of the paper's setting, by estimator, level and step size."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
POINT = ["estimator", "window", "lateral", "step_size"]
"""Columns that tell the points of a scope apart."""
Levels = Callable[[float], bool]
Point = tuple[str, int, float, float]
"""Estimator, window, level and step size; 0 where there is no window or step size."""


def tbptt(*windows: int) -> list[EstimatorName]:
    """Sliding windows by length."""
    return [EstimatorName("tbptt", window) for window in windows]


def block(*windows: int) -> list[EstimatorName]:
    """The same in blocks."""
    return [EstimatorName("tbptt-block", window) for window in windows]


def setting(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Rows of the paper's setting alone: sweeps may be extended by other shapes, lengths or single switches."""
    return frame if frame.empty else _one_precision(_as_read(frame, **values))


def _as_read(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Rows of some values on axes, and with the switches that their reading sets."""
    keep = pd.Series(True, index=frame.index)
    for name, value in values.items():
        if name in frame:
            keep &= frame[name] == value
    for reading, switches in READINGS.items():
        others = frame["reading"] != reading
        for name in SWITCHES:
            if name in frame and not others.all():
                keep &= others | (frame[name] == getattr(switches, name))
    return frame[keep]


def _one_precision(frame: pd.DataFrame) -> pd.DataFrame:
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
        return self._by_seed(((name.family, name.window or 0, level, step), metric))

    @cached_property
    def _by_seed(self) -> "Callable[[tuple[Point, str]], pd.Series[float]]":
        """One value per seed; were there several rows of one, as of an axis that is not known here, their mean."""

        @cache
        def by_seed(wanted: tuple[Point, str]) -> "pd.Series[float]":
            point, metric = wanted
            places = self._points.get(point)
            if places is None:
                return self.rows[metric][:0]
            found = pd.Series(self._columns[metric][places], index=self._columns["seed"][places], name=metric)
            return found if found.index.is_unique else found.groupby(level=0).mean()

        return by_seed

    @cached_property
    def _kept(self) -> pd.DataFrame:
        return self.rows[~self.rows["diverged"]]

    @cached_property
    def _columns(self) -> "dict[str, NDArray[np.float64]]":
        return {name: self._kept[name].to_numpy() for name in ("seed", *METRICS)}

    @cached_property
    def _points(self) -> "dict[Point, NDArray[np.int64]]":
        """The places among the kept rows of every point."""
        keys = self._kept[POINT].fillna({"window": 0, "step_size": 0.0})
        return cast("dict[Point, NDArray[np.int64]]", keys.groupby(POINT).indices)

    def label(self, level: float) -> str:
        """A level as figures write it."""
        return "dense" if level == self.rows["columns"].max() - 1 else f"{100 * level:g} %"

    def notes(self, wanted: Iterable[float]) -> list[str]:
        """What is missing: levels, networks, or networks in some points only."""
        found = []
        missing = [self.label(level) for level in wanted if level not in set(self.levels)]
        if missing:
            found.append(f"{self.sweep}: no rows at {', '.join(missing)}")
        points = self.rows.groupby(POINT, dropna=False)["seed"].nunique()
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
    return _scope(sweep, setting(_narrow(frame, values), **{**SETTING, **values}), estimators, levels, step_sizes)


def take_each(
    sweep: str, frame: pd.DataFrame, estimators: Sequence[EstimatorName], by: list[str], **values: object
) -> Iterator[tuple[tuple[Any, ...], Scope]]:
    """The same for every combination of some axes that has the rows; what is common to all is looked up once."""
    rows = _as_read(_narrow(frame, by), **values)
    for key, group in rows.groupby(by, dropna=False):
        with suppress(NoDataError):
            yield cast(tuple[Any, ...], key), _scope(sweep, _one_precision(group), estimators)


def _narrow(frame: pd.DataFrame, more: Iterable[str]) -> pd.DataFrame:
    """The columns that scopes need: filtering all of them takes long."""
    needed = {*SETTING, *SWITCHES, *POINT, *METRICS, *more, "reading", "dtype", "seed", "diverged"}
    return frame[[name for name in frame if name in needed]]


def _scope(
    sweep: str,
    rows: pd.DataFrame,
    estimators: Sequence[EstimatorName],
    levels: Levels = lambda _: True,
    step_sizes: Sequence[float] = (),
) -> Scope:
    if step_sizes:
        rows = rows[rows["step_size"].isin(step_sizes)]
    rows = rows[rows["lateral"].isin([level for level in rows["lateral"].unique() if levels(level)])]
    wanted = pd.Series(False, index=rows.index)
    for name in estimators:
        own = is_of(rows, name)
        if not own.any():
            raise NoDataError(f"{sweep} has no rows of {name} in scope")
        wanted |= own
    if rows["seed"].nunique() < 2:
        raise NoDataError(f"{sweep} has one network only, too few for a standard error")
    return Scope(sweep, rows[wanted])


def beside(sweep: str, frame: pd.DataFrame, estimators: Sequence[EstimatorName], like: Scope) -> Scope | None:
    """The same levels and step sizes for estimators shown beside a claim that decide nothing; None if absent."""
    try:
        found = take(sweep, frame, estimators, lambda level: level in set(like.levels), like.step_sizes)
    except NoDataError:
        return None
    return found


def is_of(rows: pd.DataFrame, name: EstimatorName) -> "pd.Series[bool]":
    """Which rows are of an estimator."""
    window = rows["window"].isna() if name.window is None else rows["window"] == name.window
    return (rows["estimator"] == name.family) & window
