"""Parts: Parquet files whose footer says which jobs they hold, and whose rows can be checked."""

import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from colrun.experiments import Experiment, Row, get_experiment

KEY = b"colrun"
DIGEST = b"colrun.digest"
"""Of the index, so that a damaged footer is seen without reading any row."""

FIRST = [("sweep", pa.string()), ("experiment", pa.string())]
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
    extra: dict[str, Any] = field(default_factory=dict)


class BrokenPartError(Exception):
    """A part that cannot be read or whose rows are not what was written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


def full_schema(experiment: Experiment) -> pa.Schema:
    """Columns of the experiment between those that every row has."""
    fields = [pa.field(*pair) for pair in FIRST] + list(experiment.runner().SCHEMA) + [pa.field(*pair) for pair in LAST]
    return pa.schema(fields)


def make_table(experiment: Experiment, sweep: str, rows: list[Row]) -> pa.Table:
    """Rows with the columns that every row has."""
    common = {"sweep": sweep, "experiment": experiment.name, "numerics": experiment.numerics}
    return pa.Table.from_pylist([common | row for row in rows], schema=full_schema(experiment))


def checksum(table: pa.Table, index: dict[str, Any]) -> str:
    """Of the rows' values and the index, whatever the file's layout and whatever memory lies below a null."""
    digest = hashlib.blake2b(json.dumps(index, sort_keys=True).encode(), digest_size=16)
    for field_, column in zip(table.schema, table.columns, strict=True):
        digest.update(f"{field_.name} {field_.type} {len(column)}".encode())
        digest.update(column.is_valid().to_numpy().tobytes())
        if pa.types.is_string(field_.type):
            texts = pc.fill_null(column, "")
            digest.update(pc.binary_length(texts).to_numpy().tobytes())
            for chunk in texts.chunks:
                one = pa.ListArray.from_arrays(pa.array([0, len(chunk)], pa.int32()), chunk)
                digest.update(pc.binary_join(one, "")[0].as_buffer())
        else:
            digest.update(pc.fill_null(column, False if pa.types.is_boolean(field_.type) else 0).to_numpy().tobytes())
    return digest.hexdigest()


def encode(table: pa.Table, index: PartIndex) -> bytes:
    """The part as bytes."""
    described = {key: value for key, value in vars(index).items() if key != "checksum"}
    described["checksum"] = checksum(table, described)
    sink = io.BytesIO()
    text = json.dumps(described).encode()
    table = table.replace_schema_metadata({KEY: text, DIGEST: _digest(text)})
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def read_index(path: Path) -> PartIndex:
    """The footer only: fast, and enough to see truncation."""
    try:
        metadata = pq.read_schema(path).metadata or {}
        if KEY not in metadata:
            raise BrokenPartError(path, "was not written by colrun")
        if metadata.get(DIGEST) != _digest(metadata[KEY]):
            raise BrokenPartError(path, "has a damaged index")
        return PartIndex(**json.loads(metadata[KEY]))
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise BrokenPartError(path, f"cannot be read ({_short(error)})") from None


def read_part(path: Path) -> tuple[pa.Table, PartIndex]:
    """Rows and index, checked against what was written."""
    index = read_index(path)
    try:
        table = pq.ParquetFile(path).read()
        table = table.replace_schema_metadata(None)
        described = {key: value for key, value in vars(index).items() if key != "checksum"}
        if table.num_rows != index.rows or checksum(table, described) != index.checksum:
            raise BrokenPartError(path, "holds other rows than were written")
        get_experiment(index.experiment)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BrokenPartError(path, f"cannot be read ({_short(error)})") from None
    return table, index


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
