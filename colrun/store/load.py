"""All rows of a sweep as one DataFrame."""

import os
import warnings
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute

from colrun.estimators import ESTIMATORS
from colrun.experiments import EXPERIMENTS
from colrun.store.files import is_folder, listed
from colrun.store.join import Joined, in_order
from colrun.store.known import Described
from colrun.store.parts import BrokenPartError, read_part
from colrun.store.paths import Paths, sweep_folder
from colrun.store.present import Present, named
from colrun.sweep.file import find_sweep, read_content


class BrokenPartWarning(UserWarning):
    """A part could not be read; its rows are left out."""

    left_out = True
    """A command that says so has not given all that it was asked for, so that its exit code is 1."""


class SetAsideWarning(UserWarning):
    """A part could not be read and was set aside; its jobs are missing."""


class StaleRowsWarning(UserWarning):
    """Rows were computed by another numerics version than this program's."""


def visible_parts(folder: Path) -> list[Path]:
    """The parts of a sweep's folder; else all Parquet files below a folder.

    Folders whose name starts with `_` or `.` are left out, and links are not followed.
    """
    if os.path.lexists(folder / "rows"):
        return Paths(folder).parts()
    found = []
    for name in listed(folder):
        path = folder / name
        if name.startswith(("_", ".")):
            continue
        if is_folder(path):
            found += visible_parts(path)
        elif path.suffix == ".parquet":
            found.append(path)
    return found


def load_table(path: str | Path) -> pa.Table:
    """Every row once, checked, in a fixed order whatever the parts; broken parts are named in a warning."""
    folder = sweep_folder(path)
    rows, versions, kinds = Joined(), set(), set()
    for part in visible_parts(folder):
        try:
            table, index = read_part(part)
        except BrokenPartError as error:
            warnings.warn(f"{error}; its rows are left out. `colrun sweep` computes them again.", BrokenPartWarning, 2)
            continue
        except FileNotFoundError:  # compacted away since the folder was listed
            return load_table(path)
        rows.add(table)
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
    table = rows.table()
    _warn_of_estimators(folder, table)
    return in_order(table, kinds)


def _warn_of_estimators(folder: Path, table: pa.Table) -> None:
    """Sweeps do not mix rows of two sources of a plug-in; a process that still ran with the old one may have."""
    if "plugin" not in table.column_names:
        return
    known = (
        table.filter(pa.compute.is_valid(table["plugin"]))
        .group_by(["estimator", "plugin"], use_threads=False)
        .aggregate([])
    )
    names = known["estimator"].to_pylist()
    for name in sorted({name for name in names if names.count(name) > 1}):
        warnings.warn(
            f"{folder} holds rows of {name} by several sources of that plug-in; the column `plugin` tells them apart, "
            "and `colrun sweep --recompute-stale` computes the older ones again.",
            StaleRowsWarning,
            2,
        )
    own = (
        table.filter(pa.compute.is_null(table["plugin"]))
        .group_by(["estimator", "estimator_numerics"], use_threads=False)
        .aggregate([])
    )
    for name, numerics in sorted(zip(own["estimator"].to_pylist(), own["estimator_numerics"].to_pylist(), strict=True)):
        if name in ESTIMATORS and numerics != ESTIMATORS[name].numerics:
            warnings.warn(
                f"{folder} holds rows of numerics version {numerics} of {name}; this program's is "
                f"{ESTIMATORS[name].numerics}. `colrun sweep --recompute-stale` computes them again.",
                StaleRowsWarning,
                2,
            )


def load(path: str | Path, of: str | None = None) -> pd.DataFrame:
    """Every row of a sweep's folder once, as a DataFrame; broken parts are named in a warning and left out.

    `of` is a sweep file, or the name of one: then only rows of its grid. The column `name` is the estimator as one
    writes it (`tbptt-40`); it is not stored.
    """
    table = named(load_table(path))
    if of is not None:
        content, text = read_content(find_sweep(of))
        table = table.filter(pa.array(Present.of(Described(content, of, text, {})).holds(table)))
    frame: pd.DataFrame = table.to_pandas()
    return frame
