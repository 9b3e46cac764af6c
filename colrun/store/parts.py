"""Parts: Parquet files whose footer says which jobs they hold, and whose rows can be checked."""

import contextlib
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from colrun.errors import StoreError
from colrun.experiments import Experiment, Row, get_experiment
from colrun.experiments.declare import Column


class _NoPandas:
    """pyarrow asks once whether there is pandas, which takes half a second, and drops the exception of a signal that
    comes meanwhile. Here the answer is no. It asks again for what needs pandas, which imports it first."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
        if name == "pandas":
            raise ImportError(name)


if "pandas" not in sys.modules:
    sys.meta_path.insert(0, _NoPandas)
    pa.array([0])
    sys.meta_path.remove(_NoPandas)

KEY = b"colrun"
"""Of the index, so that a damaged footer is seen without reading any row."""

FIRST = [("sweep", pa.string()), ("experiment", pa.string())]
FEW_ROWS = 100_000
"""Up to so many are read by one thread, which for a small part is faster than handing it to several."""
LAST = [("numerics", pa.int64()), ("job", pa.string())]


@dataclass
class PartIndex:
    """What a part holds, from its footer."""

    experiment: str
    numerics: int
    done: dict[str, dict[str, str]]
    """config id → estimators (joined by commas) → seeds ("0:50")."""
    rows: int
    diverged: int
    run: str
    seconds: float
    """Measured work behind it."""
    estimated: float
    """What the cost model said of it."""
    checksum: str = ""
    """Of rows and index."""
    seal: str = ""
    """Of the index, checksum included: a footer that was altered is seen without reading the rows."""
    extra: dict[str, Any] = field(default_factory=dict)


class BrokenPartError(Exception):
    """A part that cannot be read or whose rows are not what was written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


def full_schema(experiment: Experiment[Any]) -> pa.Schema:
    """Columns of the experiment between those that every row has."""
    return _schema(experiment.columns)


@cache
def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    own = [pa.field(column.name, pa.type_for_alias(column.kind)) for column in columns]
    return pa.schema([*(pa.field(*pair) for pair in FIRST), *own, *(pa.field(*pair) for pair in LAST)])


def make_table(experiment: Experiment[Any], sweep: str, rows: list[Row]) -> pa.Table:
    """Rows with the columns that every row has."""
    common = {"sweep": sweep, "experiment": experiment.name, "numerics": experiment.numerics}
    return pa.Table.from_pylist([common | row for row in rows], schema=full_schema(experiment))


def is_older(schema: pa.Schema, experiment: Experiment[Any]) -> bool:
    """Whether rows were written before the experiment had all of its columns."""
    return not set(full_schema(experiment).names) <= set(schema.names)


def up_to_date(table: pa.Table, experiment: Experiment[Any]) -> pa.Table:
    """Rows from before a column was there, with it."""
    if not is_older(table.schema, experiment):
        return table
    schema = full_schema(experiment)
    for column in experiment.columns:
        if column.name not in table.column_names:
            kind = schema.field(column.name).type
            values = pa.repeat(pa.scalar(experiment.before(column), kind), table.num_rows)
            table = table.append_column(pa.field(column.name, kind), values)
    known = [name for name in schema.names if name in table.column_names]
    return table.select([*known, *(name for name in table.column_names if name not in known)])


def checksum(table: pa.Table, index: dict[str, Any]) -> str:
    """Of the rows' values and the index, whatever the file's layout."""
    digest = hashlib.blake2b(json.dumps(index, sort_keys=True).encode(), digest_size=16)
    for name, kind in zip(table.schema.names, table.schema.types, strict=True):
        digest.update(f"{name}:{kind};".encode())
        for piece in _values(table[name].combine_chunks()):
            digest.update(piece)
    return digest.hexdigest()


def _values(column: pa.Array) -> Iterator[bytes]:
    """Which values are null, and the others. Arrow's own buffers will not do: memory below a null is arbitrary."""
    yield np.packbits(column.is_null().to_numpy(zero_copy_only=False)).tobytes()
    if pa.types.is_string(column.type):
        coded = (column.fill_null("") if column.null_count else column).dictionary_encode()
        yield coded.indices.to_numpy().tobytes()
        yield json.dumps(coded.dictionary.to_pylist()).encode()
    else:
        filled = column.fill_null(_zero(column.type)) if column.null_count else column
        yield filled.to_numpy(zero_copy_only=False).tobytes()


@cache
def _zero(kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(0).cast(kind)


def _described(index: PartIndex) -> dict[str, Any]:
    return {key: value for key, value in vars(index).items() if key not in ("checksum", "seal")}


def _seal(described: dict[str, Any]) -> str:
    text = json.dumps({key: value for key, value in described.items() if key != "seal"}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def encode(table: pa.Table, index: PartIndex) -> bytes:
    """The part as bytes."""
    described = _described(index)
    described["checksum"] = checksum(table, described)
    described["seal"] = _seal(described)
    sink = io.BytesIO()
    table = table.replace_schema_metadata({KEY: json.dumps(described).encode()})
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def read_index(path: Path) -> PartIndex:
    """The footer only: fast, and enough to see truncation."""
    return read_footer(path)[0]


def read_footer(path: Path) -> tuple[PartIndex, pa.Schema]:
    """The index, and the columns of the rows."""
    with _explained(path):
        schema = pq.read_schema(path)
        return _index(path, schema), schema


def _index(path: Path, schema: pa.Schema) -> PartIndex:
    metadata = schema.metadata or {}
    if KEY not in metadata:
        raise BrokenPartError(path, "was not written by colrun")
    described = json.loads(metadata[KEY])
    index = PartIndex(**described)
    if _seal(described) != index.seal:
        raise BrokenPartError(path, "has a footer that is not what was written")
    return index


def read_part(path: Path) -> tuple[pa.Table, PartIndex]:
    """Rows and index, checked against what was written; columns that came later are filled in."""
    with _explained(path), pq.ParquetFile(path) as file:
        index = _index(path, file.schema_arrow)
        table = file.read(use_threads=index.rows > FEW_ROWS).replace_schema_metadata(None)
        if table.num_rows != index.rows or checksum(table, _described(index)) != index.checksum:
            raise BrokenPartError(path, "holds other rows than were written")
        experiment = get_experiment(index.experiment)
    return up_to_date(table, experiment), index


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """A part that is not there, or that may not or cannot be read at the moment, is no broken part."""
    try:
        yield
    except FileNotFoundError:
        if path.is_symlink():
            raise BrokenPartError(path, "is a link to nothing") from None
        raise
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        if isinstance(error, OSError) and error.errno:  # Arrow's own complaints about contents have no number
            raise StoreError(f"cannot read {path}: {os.strerror(error.errno)}.") from None
        raise BrokenPartError(path, f"cannot be read ({_short(error)})") from None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
