"""All rows of a sweep as one DataFrame."""

import warnings
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute

from colrun.experiments import EXPERIMENTS, get_experiment
from colrun.store.parts import BrokenPartError, read_part
from colrun.store.paths import sweep_folder

TOGETHER = 1000
"""Parts whose rows are put into one piece of memory at a time: a piece for each would take ten times as much."""


class BrokenPartWarning(UserWarning):
    """A part could not be read; its rows are left out."""


class StaleRowsWarning(UserWarning):
    """Rows were computed by another numerics version than this program's."""


def visible_parts(folder: Path) -> list[Path]:
    """Parquet files below a folder, those in folders whose name starts with `_` or `.` left out."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(("_", ".")):
            continue
        if path.is_dir():
            found += visible_parts(path)
        elif path.suffix == ".parquet":
            found.append(path)
    return found


def load_table(path: str | Path) -> pa.Table:
    """Every row once, checked, in a fixed order whatever the parts; broken parts are named in a warning."""
    folder = sweep_folder(path)
    tables, small, versions, kinds = [], [], set(), set()
    for part in visible_parts(folder):
        try:
            table, index = read_part(part)
        except BrokenPartError as error:
            warnings.warn(f"{error}; its rows are left out. `colrun sweep` computes them again.", BrokenPartWarning, 2)
            continue
        except FileNotFoundError:  # compacted away since the folder was listed
            return load_table(path)
        small.append(table)
        if len(small) == TOGETHER:
            tables.append(_joined(small).combine_chunks())
            small.clear()
        kinds.add(index.experiment)
        versions.add((index.experiment, index.numerics))
    for kind, numerics in sorted(versions):
        if numerics != EXPERIMENTS[kind].numerics:
            warnings.warn(
                f"{folder} holds rows of numerics version {numerics} of experiment {kind}; this program's is "
                f"{EXPERIMENTS[kind].numerics}. `colrun sweep --recompute-stale` computes them again.",
                StaleRowsWarning,
                2,
            )
    if not tables and not small:
        return pa.table({})
    table = _joined([*tables, *small])
    _warn_of_plugins(folder, table)
    return in_order(table, kinds)


def _joined(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables, promote_options="default")


def _warn_of_plugins(folder: Path, table: pa.Table) -> None:
    """Sweeps do not mix rows of two sources of a plug-in; a process that still ran with the old one may have."""
    if "plugin" not in table.column_names:
        return
    known = table.filter(pa.compute.is_valid(table["plugin"])).group_by(["estimator", "plugin"]).aggregate([])
    names = known["estimator"].to_pylist()
    for name in sorted({name for name in names if names.count(name) > 1}):
        warnings.warn(
            f"{folder} holds rows of {name} by several sources of that plug-in; the column `plugin` tells them apart, "
            "and `colrun sweep --recompute-stale` computes the older ones again.",
            StaleRowsWarning,
            2,
        )


def in_order(table: pa.Table, kinds: set[str]) -> pa.Table:
    """Sorted by parameters, seed and what tells the rows of a job apart; a row that two parts hold counts once."""
    (kind,) = kinds if len(kinds) == 1 else (None,)
    if kind is None:
        return table
    experiment = get_experiment(kind)
    key = list(experiment.runner().KEY)
    order = [*(axis.name for axis in experiment.axes), "seed", *key]
    table = table.sort_by([(name, "ascending") for name in ["numerics", *order]])
    same = table.select(["job", *key]).to_pandas().duplicated()
    return table.filter(pa.array(~same.to_numpy())) if same.any() else table


def load(path: str | Path) -> pd.DataFrame:
    """Every row of a sweep's folder once, as a DataFrame; broken parts are named in a warning and left out."""
    frame: pd.DataFrame = load_table(path).to_pandas()
    return frame
