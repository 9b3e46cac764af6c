"""Whatever happens to the bytes of a part: its rows are the ones that were written, or it says that they are not."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colrun.experiments import get_experiment
from colrun.store.parts import BrokenPartError, PartIndex, encode, full_schema, make_table, read_index, read_part

ALIGNMENT = get_experiment("alignment")
HERE = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def index_of(table: pa.Table) -> PartIndex:
    return PartIndex("alignment", 1, {"c0": {"master-user,tbptt-5": "0:9"}}, table.num_rows, 0, "run", 1.5, 1.0)


def a_part() -> tuple[pa.Table, bytes]:
    rows = []
    for seed in range(9):
        common = {"cell": "additive", "columns": 3, "seed": seed, "job": f"c0.{seed}", "diverged": seed == 4}
        for name, window in (("master-user", None), ("tbptt", 5)):
            rows.append(common | {"estimator": name, "window": window, "alignment": 1 / (seed + 1), "cosine": None})
    table = make_table(ALIGNMENT, "small", rows)
    return table, encode(table, index_of(table))


TABLE, PART = a_part()


def check(path: Path, content: bytes) -> bool:
    """True if the damage was noticed; else the rows and the index must be what was written."""
    path.write_bytes(content)
    with contextlib.suppress(BrokenPartError):
        assert read_index(path).done == index_of(TABLE).done
    try:
        table, index = read_part(path)
    except BrokenPartError as error:
        return str(path) in str(error)
    assert table.equals(TABLE)
    assert (index.done, index.rows, index.numerics) == (index_of(TABLE).done, TABLE.num_rows, 1)
    return False


def test_untouched(tmp_path: Path) -> None:
    assert not check(tmp_path / "part.parquet", PART)


@HERE
@given(place=st.integers(0, len(PART) - 1), change=st.integers(1, 255))
def test_one_byte_changed(tmp_path: Path, place: int, change: int) -> None:
    content = bytearray(PART)
    content[place] ^= change
    check(tmp_path / "part.parquet", bytes(content))


@HERE
@given(
    st.lists(st.tuples(st.integers(0, len(PART) - 1), st.binary(min_size=1, max_size=40)), min_size=1, max_size=4),
    st.integers(0, len(PART)),
)
def test_overwritten_and_cut(tmp_path: Path, overwritten: list[tuple[int, bytes]], length: int) -> None:
    content = bytearray(PART)
    for place, garbage in overwritten:
        content[place : place + len(garbage)] = garbage
    check(tmp_path / "part.parquet", bytes(content))
    if length < len(PART):
        assert check(tmp_path / "part.parquet", PART[:length])


@HERE
@given(st.binary(max_size=2000))
def test_something_else(tmp_path: Path, content: bytes) -> None:
    assert check(tmp_path / "part.parquet", content)


@pytest.mark.parametrize("column", ["alignment", "window", "seed", "job", "diverged"])
def test_other_rows_under_the_same_index(tmp_path: Path, column: str) -> None:
    """A part that is good Parquet with one other value."""
    metadata = pq.read_schema(pa.BufferReader(PART)).metadata
    values = TABLE[column].to_pylist()
    values[3] = {"job": "c0.7", "diverged": True}.get(column, 7)
    position = TABLE.schema.get_field_index(column)
    other = TABLE.set_column(position, TABLE.schema.field(column), pa.array(values, TABLE.schema.field(column).type))
    sink = pa.BufferOutputStream()
    pq.write_table(other.replace_schema_metadata(metadata), sink)
    assert check(tmp_path / "part.parquet", sink.getvalue().to_pybytes())


OPTIONAL = {
    pa.string(): st.none() | st.text("abz09µ .-", max_size=5),
    pa.int64(): st.none() | st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.none() | st.floats(allow_nan=False),
    pa.bool_(): st.none() | st.booleans(),
}
NEEDED = {"sweep": "small", "job": "c0.0", "seed": 0, "numerics": 1, "diverged": False}


@settings(HERE, max_examples=100)
@given(data=st.data(), count=st.integers(0, 20), start=st.integers(0, 5))
def test_nulls_anywhere_are_no_damage(tmp_path: Path, data: st.DataObject, count: int, start: int) -> None:
    """Memory below a null, or cut off by a slice, is no part of the rows."""
    schema = full_schema(ALIGNMENT)

    def drawn(field: pa.Field) -> pa.Array:
        if field.name in NEEDED:
            return pa.array([NEEDED[field.name]] * count, field.type)
        return pa.array(data.draw(st.lists(OPTIONAL[field.type], min_size=count, max_size=count)), field.type)

    table = pa.Table.from_arrays([drawn(field) for field in schema], schema=schema).slice(start)
    path = tmp_path / "part.parquet"
    path.write_bytes(encode(table, replace(index_of(table), done={})))
    assert read_part(path)[0].equals(table)
    old = pq.read_schema(path).metadata[b"colrun"]
    pq.write_table(table.replace_schema_metadata({b"colrun": old}), path)
    assert read_part(path)[0].equals(table), "a part from before whole files were hashed, checked by its values"
