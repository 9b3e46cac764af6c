"""What an experiment declares. Whoever plans, stores or reads rows knows it only by this; nothing here imports torch.

An experiment is a folder: its `__init__.py` holds the declaration, `EXPERIMENT`, and its `job.py` what is computed.
"""

import hashlib
import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from colrun.drawing import Explored, FigureEntry
from colrun.experiments.axes import Always, Axis, Value, axes_of
from colrun.verdicts import ClaimEntry

Row = dict[str, Any]
Values = dict[str, list[Value]]
"""An axis and the values it takes in a grid, parsed."""
Skip = Callable[[str], None]
"""Told the reason when a point of a grid cannot exist."""

C = TypeVar("C", bound=Hashable)
"""A config: a frozen dataclass whose fields are axes, and a job without its seed."""


class Column(NamedTuple):
    """A column of rows."""

    name: str
    kind: str
    """string, int64, float64 or bool"""
    before: Value = None
    """What rows hold that were written before the column was there; of an axis it is what that was introduced with."""


def text(*names: str) -> list[Column]:
    return [Column(name, "string") for name in names]


def whole(*names: str) -> list[Column]:
    return [Column(name, "int64") for name in names]


def real(*names: str) -> list[Column]:
    return [Column(name, "float64") for name in names]


def flag(*names: str) -> list[Column]:
    return [Column(name, "bool") for name in names]


ESTIMATOR = (*text("estimator"), *whole("window"))
ORIGIN = (*text("plugin"), Column("estimator_numerics", "int64", 1))
"""By what an estimator's rows were computed: the source of one that is not colrun's own, and its numerics version."""


@dataclass(frozen=True)
class Experiment(Generic[C]):
    """One kind of experiment."""

    name: str
    summary: str
    config: type[C]
    expand: Callable[[Values, Skip], Iterator[C]]
    """The points of a grid, each once and completed; reasons for those left out go to `Skip`."""
    columns: tuple[Column, ...]
    """Of its rows, besides those that every experiment has."""
    batch_size: Callable[[C], int]
    """Networks computed together: by the config only, so that a seed's numbers never depend on which others run with
    it."""
    shared: Callable[[C], Hashable]
    """Configs for which this is equal share all that a seed draws, and are best run one after another."""
    seconds: Callable[[C, tuple[str, ...]], float]
    """Estimated work of one job with these estimators on one core."""
    job: str
    """The module with `run(config, seeds, estimators)`, the rows of each seed of one batch; or, where configs are
    computed together, with `run_together(jobs, estimators)`, the rows of each (config, seed)."""
    numerics: int
    """Raise it when the numbers of any job may change: older rows are then stale. Golden rows in the tests guard it."""
    takes_estimators: bool = True
    along: tuple[str, ...] = ()
    """A row is of one network and, if it takes them, of one estimator; and of one value of each of these columns."""
    together: Callable[[C], Hashable] | None = None
    """Configs for which this is equal, which share what a seed draws, are computed in one call; None: each alone. Which
    of them are still missing may be any, so that a job's numbers must not depend on the others."""
    undefined: Callable[[C, str], str | None] = lambda _config, _estimator: None
    """Why an estimator is not defined on a config; None if it is, and empty where that needs no word."""
    times: tuple[str, ...] = ()
    """Columns that no two runs share."""
    by_kernels: bool = False
    """Whether it runs by compiled kernels."""
    figures: Mapping[str, FigureEntry] = field(default_factory=dict)
    claims: Mapping[str, ClaimEntry] = field(default_factory=dict)
    explored: Mapping[str, Explored] = field(default_factory=dict)
    """The axes that the report's explorer offers; none: its rows are not in it."""

    def __post_init__(self) -> None:
        origin = [column.name for column in ORIGIN] if self.takes_estimators else []
        needed = [*(axis.name for axis in self.axes), "seed", *self.key, *origin, "diverged"]
        lacking = [name for name in needed if name not in {column.name for column in self.columns}]
        if lacking:
            raise TypeError(f"experiment {self.name} declares no column {', '.join(lacking)}.")

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        return axes_of(self.config)

    def axis(self, name: str) -> Axis:
        return next(axis for axis in self.axes if axis.name == name)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Columns that tell the rows of one job apart."""
        return (*(("estimator", "window") if self.takes_estimators else ()), *self.along)

    def canonical(self, config: C) -> str:
        """Parameters and numerics version in the form that is hashed into a job's identity."""
        values = ((axis, getattr(config, axis.name)) for axis in self.axes)
        pairs = ";".join([f"{axis.name}={value!r}" for axis, value in values if axis.identifies(value)])
        return f"experiment={self.name};numerics={self.numerics};{pairs}"

    def config_id(self, config: C) -> str:
        """16 hex digits; a job is this and its seed: `3f0c…a1.42`."""
        return hashlib.blake2b(self.canonical(config).encode(), digest_size=8).hexdigest()

    def as_dict(self, config: C) -> dict[str, Value]:
        """A config by axis name, as rows and files have it."""
        return {axis.name: getattr(config, axis.name) for axis in self.axes}

    def point(self, **values: object) -> C:
        """The config of a grid with one value on every axis, the default where none is given."""
        grid: Values = {axis.name: [axis.default] for axis in self.axes}
        grid |= {name: [None if value is None else self.axis(name).parse(value)] for name, value in values.items()}
        (config,) = self.expand(grid, lambda _: None)
        return config

    def before(self, column: Column) -> Value:
        """What rows from before a column was there hold in it."""
        axis = next((axis for axis in self.axes if axis.name == column.name), None)
        if axis is None or isinstance(axis.introduced, Always):
            return column.before
        return axis.introduced

    def run(self, jobs: list[tuple[C, int]], estimators: list[str]) -> dict[tuple[C, int], list[Row]]:
        """The rows of jobs that are computed in one call: here torch is imported."""
        module = import_module(self.job)
        if self.together is not None:
            found: dict[tuple[C, int], list[Row]] = module.run_together(jobs, estimators)
            return found
        (config,) = {config for config, _ in jobs}
        rows: dict[int, list[Row]] = module.run(config, [seed for _, seed in jobs], estimators)
        return {(config, seed): found for seed, found in rows.items()}


def expand_plain(config: type[C]) -> Callable[[Values, Skip], Iterator[C]]:
    """Every combination, where each exists."""
    names = [axis.name for axis in axes_of(config)]

    def expand(values: Values, skip: Skip) -> Iterator[C]:  # noqa: ARG001
        return (config(*each) for each in itertools.product(*(values[name] for name in names)))

    return expand
