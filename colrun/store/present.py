"""The present grid of a sweep, and which rows are of it.

The grid is that of the sweep's file as it stands, together with what options made of it in runs since the file was last
changed: rows from before an edit of the file that its grid no longer has are not of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from colrun.errors import InvalidValueError
from colrun.estimators import parse_estimator
from colrun.experiments import Experiment, get_experiment
from colrun.store.known import Described
from colrun.sweep.file import Sweep
from colrun.sweep.seeds import Seeds

ANY = "bptt"
"""Stands for the estimators of a grid, which are compared by name: a plug-in need not be at hand. It is defined on
every cell."""
Names = frozenset[str]
EVERY: Names = frozenset()
"""Of an experiment that takes no estimators."""


def named(table: pa.Table) -> pa.Table:
    """Rows with their estimator as users write it, `tbptt-40`, in a column `name`."""
    if "estimator" not in table.column_names:
        return table
    family, window = table["estimator"], table["window"]
    joined = pa.compute.binary_join_element_wise(family, window.cast(pa.string()), "-")
    names = pa.compute.if_else(window.is_null(), family, joined)
    return table.add_column(table.column_names.index("window") + 1, "name", names)


class Present:
    """What rows a sweep has now, by config, seed and name of the estimator."""

    def __init__(self, sweeps: Iterable[tuple[Sweep, list[Names]]]) -> None:
        self.sweeps = list(sweeps)

    @classmethod
    def of(cls, described: Described) -> "Present":
        """The file, and the file with the options of every run of it; what no longer fits the file is left out."""
        found = [_parsed(described, {})]
        for options in described.options:
            try:
                found.append(_parsed(described, options))
            except InvalidValueError:
                continue
        return cls(found)

    @cached_property
    def experiment(self) -> Experiment[Any]:
        return self.sweeps[0][0].experiment

    def holds(self, table: pa.Table) -> NDArray[np.bool_]:
        """Which rows are of the grid; `table` has a column `name` where the experiment takes estimators."""
        wanted = self._wanted({int(version) for version in table["numerics"].unique().to_pylist()})
        jobs = table["job"].combine_chunks().dictionary_encode()
        sets: dict[Names | None, int] = {None: 0}
        of_job = [sets.setdefault(_names(wanted, job), len(sets)) for job in jobs.dictionary.to_pylist()]
        if "name" in table.column_names:
            names = table["name"].combine_chunks().dictionary_encode()
            known, places = names.dictionary.to_pylist(), names.indices.to_numpy()
        else:
            known, places = [""], np.zeros(table.num_rows, dtype=np.int64)
        allowed = np.array([[names is not None and (not names or name in names) for name in known] for names in sets])
        rows: NDArray[np.bool_] = allowed.reshape(len(sets), -1)[
            np.array(of_job, dtype=np.int64)[jobs.indices.to_numpy()], places
        ]
        return rows

    def has(self, job: str) -> bool:
        """Whether a job of today's numerics version is of the grid."""
        return _names(self._today, job) is not None

    @cached_property
    def _today(self) -> dict[str, list[tuple[Seeds, Names]]]:
        return self._wanted({self.experiment.numerics})

    def _wanted(self, versions: set[int]) -> dict[str, list[tuple[Seeds, Names]]]:
        """By config, as it is called in each numerics version."""
        found: dict[str, list[tuple[Seeds, Names]]] = {}
        for sweep, names in self.sweeps:
            if sweep.experiment != self.experiment:
                continue
            kinds = [replace(self.experiment, numerics=version) for version in versions]
            for grid, wanted in zip(sweep.grids, names, strict=True):
                for config in self.experiment.expand(grid.values, lambda _: None):
                    for kind in kinds:
                        found.setdefault(kind.config_id(config), []).append((grid.seeds, wanted))
        return found


def _names(wanted: dict[str, list[tuple[Seeds, Names]]], job: str) -> Names | None:
    """Of a job, the estimators that are of the grid; None where it is not of it at all."""
    config, _, seed = job.partition(".")
    found = [names for seeds, names in wanted.get(config, ()) if int(seed) in seeds]
    return frozenset().union(*found) if found else None


def _parsed(described: Described, options: Mapping[str, Any]) -> tuple[Sweep, list[Names]]:
    """A sweep without its estimators, and the names of these in each of its grids."""
    content = described.content
    given = {**described.own, **options}
    top = {**content, **given}
    if not get_experiment(top.get("experiment", "alignment")).takes_estimators:
        sweep = described.parsed(given)
        return sweep, [EVERY] * len(sweep.grids)
    sweep = described.parsed({**given, "estimators": [ANY]})
    tables = content.get("grid", {})
    names = []
    for table in tables if isinstance(tables, list) else [tables]:
        wanted = given.get("estimators", table.get("estimators", content.get("estimators", [])))
        names.append(frozenset(_canonical(name) for name in (wanted if isinstance(wanted, list) else [wanted])))
    return sweep, names


def _canonical(name: object) -> str:
    try:
        return str(parse_estimator(str(name)))
    except InvalidValueError:  # of a plug-in that is not at hand
        return str(name)
