"""What readers get of a sweep: local and kept rows of its present grid, put together."""

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute

from colrun.errors import InvalidValueError
from colrun.experiments import get_experiment
from colrun.store.join import ORIGIN, in_order
from colrun.store.known import describe
from colrun.store.load import load_table
from colrun.store.present import Present, named

if TYPE_CHECKING:
    import pandas as pd

    from colrun.store.kept import Rows


def view(rows: "Rows") -> "tuple[pd.DataFrame, int]":
    """Rows, with the columns `name` and `source`, and how many others there are that are not of the present grid.

    Kept rows stand in for what was not run: per job and estimator, of one numerics version and experiment.
    """
    tables = {
        source: named(load_table(folder))
        for source, folder in (("local", rows.local), ("kept", rows.kept))
        if folder is not None
    }
    first = next((table for table in tables.values() if table.num_rows), None)
    if first is None:  # every part is broken
        return pa.table({name: [] for name in ("experiment", "job", "diverged", "source")}).to_pandas(), 0
    kinds = set(first["experiment"].unique().to_pylist())
    tables = {source: each for source, each in tables.items() if set(each["experiment"].unique().to_pylist()) == kinds}
    total = sum(table.num_rows for table in tables.values())
    if len(kinds) == 1:
        tables = _of_one_version(_present(rows, tables), get_experiment(*kinds).numerics)
    others = total - sum(table.num_rows for table in tables.values())
    return _joined(tables, kinds).to_pandas(), others


def _present(rows: "Rows", tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    try:
        grid = Present.of(describe(rows.folder.parent, rows.sweep))
    except InvalidValueError as error:
        warnings.warn(f"all rows of {rows.sweep} are taken, as its present grid is not known: {error}", stacklevel=2)
        return tables
    return {source: table.filter(pa.array(grid.holds(table))) for source, table in tables.items()}


def _of_one_version(tables: dict[str, pa.Table], current: int) -> dict[str, pa.Table]:
    """Of the current numerics version, or of the last one that there is; of every estimator as well."""
    versions = {version for table in tables.values() for version in table["numerics"].unique().to_pylist()}
    if len(versions) > 1:
        only = current if current in versions else max(versions)
        tables = {source: table.filter(pa.compute.field("numerics") == only) for source, table in tables.items()}
    newest: dict[str, int] = {}
    for table in tables.values():
        if "estimator" in table.column_names:
            for name, version in _estimators(table):
                newest[name] = max(version, newest.get(name, 0))
    return {
        source: table
        if all(newest[name] == version for name, version in _estimators(table))
        else table.filter(pa.array([newest[name] == version for name, version in _pairs(table)]))
        for source, table in tables.items()
    }


def _estimators(table: pa.Table) -> set[tuple[str, int]]:
    if "estimator" not in table.column_names:
        return set()
    return set(_pairs(table.group_by(["estimator", ORIGIN[1]]).aggregate([])))


def _pairs(table: pa.Table) -> list[tuple[str, int]]:
    return list(zip(table["estimator"].to_pylist(), table[ORIGIN[1]].to_pylist(), strict=True))


def _joined(tables: dict[str, pa.Table], kinds: set[str]) -> pa.Table:
    marked = [
        table.append_column("source", pa.repeat(pa.scalar(source), table.num_rows)) for source, table in tables.items()
    ]
    if len(marked) == 1 or not all(table.num_rows for table in marked):
        return next((table for table in marked if table.num_rows), marked[0])
    schema = marked[0].schema
    both = pa.concat_tables([marked[0], marked[1].select(schema.names).cast(schema)])
    key = ["job", *get_experiment(*kinds).key]
    again = both.select(key).to_pandas().duplicated().to_numpy()
    return in_order(both.filter(pa.array(np.logical_not(again))), kinds)
