"""Parts: Parquet files whose footer says which jobs they hold, and whose rows can be checked."""

import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas  # noqa: F401  (pyarrow would import it at its first use of it, and drop an exception of a signal there)
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from colrun.errors import StoreError, shown
from colrun.experiments import Experiment, Row, get_experiment
from colrun.experiments.declare import Column
from colrun.store.files import StrangeFileError, opened, parse_json, read_at, read_file
from colrun.store.footer import HASH_LENGTH, LARGEST_PART, WHOLE, columns_in, footer_of, hash_of, is_whole, value_of
from colrun.store.records import INDEX, check_done, checked

KEY = b"colrun"
"""Of the index, so that a damaged footer is seen without reading any row."""
LONGEST_TEXT = 300

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


def is_older(columns: int, experiment: Experiment[Any]) -> bool:
    """Whether rows were written before the experiment had all of its columns, which only get more."""
    return columns < len(full_schema(experiment))


def up_to_date(table: pa.Table, experiment: Experiment[Any]) -> pa.Table:
    """Rows from before a column was there, with it."""
    schema = full_schema(experiment)
    if set(schema.names) <= set(table.column_names):
        return table
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
    table = table.replace_schema_metadata({KEY: json.dumps(described).encode(), WHOLE: b"0" * HASH_LENGTH})
    pq.write_table(table, sink, compression="zstd")
    content = bytearray(sink.getvalue())
    place = value_of(content, WHOLE)
    assert place is not None
    content[place] = hash_of(content).encode()
    return bytes(content)


def _index(footer: bytes, size: int) -> PartIndex:
    place = value_of(footer, KEY)
    if place is None:
        raise StrangeFileError("was not written by colrun")
    described = parse_json(footer[place])
    checked(described, INDEX)
    if described.keys() != INDEX.keys() or _seal(described) != described["seal"]:
        raise StrangeFileError("has a footer that is not what was written")
    index = PartIndex(**described)
    check_done(index.done, index.rows, size)
    return index


def read_index(path: Path) -> PartIndex:
    """The footer only: fast, and enough to see truncation."""
    return read_footer(path)[0]


def read_footer(path: Path) -> tuple[PartIndex, int]:
    """The index, and the number of columns of the rows."""
    with _explained(path), opened(path, LARGEST_PART) as (handle, size):
        footer = footer_of(handle, size)
        return _index(footer, size), columns_in(footer)


def verify_part(path: Path) -> tuple[PartIndex, int]:
    """As `read_footer`, after every byte was checked."""
    with _explained(path):
        content = read_file(path, LARGEST_PART)
    if is_whole(content) is None:
        read_part(path)
    elif not is_whole(content):
        raise BrokenPartError(path, "is not what was written")
    return read_footer(path)


def read_part(path: Path) -> tuple[pa.Table, PartIndex]:
    """Rows and index, checked against what was written; columns that came later are filled in."""
    with _explained(path):
        with opened(path, LARGEST_PART) as (handle, size):
            index = _index(footer_of(handle, size), size)
            content = read_at(handle, 0, size)
        whole = is_whole(content)
        if whole is False:
            raise StrangeFileError("is not what was written")
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            if file.metadata.num_rows != index.rows:
                raise StrangeFileError("holds other rows than were written")
            experiment = get_experiment(index.experiment)
            _check_columns(file.schema_arrow, experiment)
            table = file.read(use_threads=index.rows > FEW_ROWS).replace_schema_metadata(None)
        if whole is None and checksum(table, _described(index)) != index.checksum:
            raise StrangeFileError("holds other rows than were written")
        if table.num_rows:
            _check_values(table)
    return up_to_date(table, experiment), index


def _check_columns(schema: pa.Schema, experiment: Experiment[Any]) -> None:
    """Columns that readers go by are there, and all have the types that colrun writes; kept metrics are float32."""
    wanted = full_schema(experiment)
    for name in ("job", "seed", "diverged", *(name for name, _ in (*FIRST, *LAST))):
        if name in wanted.names and name not in schema.names:
            raise StrangeFileError(f"has no column {name!r}")
    for name, kind in zip(schema.names, schema.types, strict=True):
        known = wanted.field(name).type if name in wanted.names else kind
        if kind not in TYPES or (kind != known and not (known == pa.float64() and kind == pa.float32())):
            raise StrangeFileError(f"has a column {shown(name)} of another type than is written")
    if len(set(schema.names)) < len(schema.names):
        raise StrangeFileError("has a column twice")


TYPES = (pa.string(), pa.int64(), pa.float64(), pa.float32(), pa.bool_())
JOB = r"^[0-9a-z]{1,64}\.[0-9]{1,18}$"
TEXT = re.compile(r"[\w .,:;+@%/()=#-]*")
"""What may stand in rows: words that figures, tables and pages show as they are."""


def _check_values(table: pa.Table) -> None:
    """Of columns that readers go by none is empty, and texts are words."""
    for name in ("job", "seed", "diverged", "sweep", "numerics"):
        if name in table.column_names and table[name].null_count:
            raise StrangeFileError(f"has rows without {name}")
    if not pa.compute.all(pa.compute.match_substring_regex(table["job"], JOB)).as_py():
        raise StrangeFileError("names a job that cannot be one")
    for name, kind in zip(table.schema.names, table.schema.types, strict=True):
        if kind == pa.string() and name != "job":
            for text in table[name].unique().to_pylist():
                if text is not None and not _is_word(text):
                    raise StrangeFileError(f"holds a {name} that colrun does not write: {shown(text)}")


@lru_cache(maxsize=1 << 16)
def _is_word(text: str) -> bool:
    return len(text) <= LONGEST_TEXT and TEXT.fullmatch(text) is not None


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """A part that is not there, or that may not or cannot be read at the moment, is no broken part."""
    try:
        yield
    except FileNotFoundError:
        raise
    except pa.ArrowMemoryError:
        raise
    except StrangeFileError as error:
        raise BrokenPartError(path, str(error)) from None
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        if isinstance(error, OSError) and error.errno:  # Arrow's own complaints about contents have no number
            raise StoreError(f"cannot read {path}: {os.strerror(error.errno)}.") from None
        raise BrokenPartError(path, f"cannot be read ({_short(error)})") from None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
