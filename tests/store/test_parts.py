"""Parts: what is written comes back, and what was altered on disk is noticed."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from colrun.experiments import EXPERIMENTS, get_experiment
from colrun.quality import GROUP_METRICS, SPREAD
from colrun.store.parts import BrokenPartError, PartIndex, encode, full_schema, make_table, read_index, read_part

CONTRACT = """sweep, experiment, reading, cell, columns, width, lateral, step_size, seed, estimator, window, alignment,
alignment_released, mae, mean_abs_truth, cosine, norm_ratio, compared, lateral_weights, max_error, diverged, dtype,
steps, inputs, init, own_state, state_bias, mask_own_recurrence, mask_recurrence, job"""

ADDED = [
    *("draws", *SPREAD, "by_group", *GROUP_METRICS, "plugin", "estimator_numerics", "task", "numerics"),
    "experiment",
]


def row(seed: int, **values: Any) -> dict[str, Any]:
    facts = {
        "reading": "text", "cell": "additive", "columns": 3, "width": 2, "lateral": 0.1, "step_size": None,
        "seed": seed, "estimator": "tbptt", "window": 3, "alignment": 0.1 + 0.2, "alignment_released": None,
        "mae": 5e-324, "mean_abs_truth": 1.7e308, "cosine": -0.0, "norm_ratio": float("inf"), "compared": 2**53 + 1,
        "lateral_weights": 0, "max_error": 3.5, "diverged": False, "dtype": "float32", "steps": 10, "inputs": 5,
        "init": "xavier", "own_state": True, "state_bias": False, "mask_own_recurrence": False, "mask_recurrence": True,
        "job": f"0123456789abcdef.{seed}",
    }  # fmt: skip
    return facts | values


def part(rows: list[dict[str, Any]]) -> tuple[bytes, PartIndex]:
    experiment = get_experiment("alignment")
    done = {"0123456789abcdef": {"tbptt-3": f"0:{len(rows)}"}}
    index = PartIndex("alignment", 1, done, len(rows), 0, "run", 0.5, 0.25)
    return encode(make_table(experiment, "tiny", rows), index), index


def test_the_schema_is_the_contract_and_numerics() -> None:
    wanted = CONTRACT.replace("\n", " ").split(", ")
    names = full_schema(get_experiment("alignment")).names
    assert names == [*wanted[:-1], *ADDED[:-1], "job"]


def test_every_parameter_in_a_jobs_identity_is_a_column() -> None:
    for experiment in EXPERIMENTS.values():
        names = set(full_schema(experiment).names)
        assert {axis.name for axis in experiment.axes} | {"seed", "numerics", "experiment", "sweep", "job"} <= names


def test_rows_come_back_to_the_bit(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    rows = [
        row(0),
        row(1, step_size=0.01, window=None, estimator="master-user", alignment=None),
        row(2, sweep="ignored"),
    ]
    content, index = part(rows)
    path.write_bytes(content)
    table, found = read_part(path)
    assert (found.done, found.rows, found.run, found.seconds) == (index.done, 3, "run", 0.5)
    back = table.to_pylist()
    for wanted, got in zip(rows, back, strict=True):
        assert {**wanted, "sweep": "x"} == {k: v for k, v in got.items() if k not in ADDED} | {"sweep": "x"}
    assert str(back[0]["cosine"]) == "-0.0"
    assert back[0]["experiment"] == "alignment"
    assert back[0]["numerics"] == get_experiment("alignment").numerics


@pytest.mark.parametrize("count", [1, 7, 8, 9, 300])
def test_nulls_do_not_disturb_the_checksum(tmp_path: Path, count: int) -> None:
    # Memory below a null is arbitrary, so a checksum of Arrow's buffers would call a good part broken now and then.
    path = tmp_path / "part.parquet"
    for attempt in range(5):
        rows = [row(n, alignment=None if n % 3 else 0.5, window=None if n % 2 else 3, cell=None) for n in range(count)]
        path.write_bytes(part(rows)[0])
        assert read_part(path)[0].num_rows == count, attempt


def test_a_null_is_not_a_zero_for_the_checksum(tmp_path: Path) -> None:
    sums = []
    for value in (None, 0.0, -0.0, float("nan")):
        path = tmp_path / "part.parquet"
        path.write_bytes(part([row(0, alignment=value)])[0])
        sums.append(read_index(path).checksum)
    assert len(set(sums)) == 4
    texts: list[list[str | None]] = [["ab", "c"], ["a", "bc"], ["abc", ""], ["", "abc"], [None, "abc"]]
    for first, second in texts:
        path.write_bytes(part([row(0, init=first), row(1, init=second)])[0])
        sums.append(read_index(path).checksum)
    assert len(set(sums)) == 9


def test_any_flipped_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    content, _ = part([row(n, max_error=n / 7) for n in range(40)])
    path = tmp_path / "part.parquet"
    path.write_bytes(content)
    table, index = read_part(path)
    source, noticed = random.Random(0), 0
    places = [*range(0, len(content), 11), *range(len(content) - 12, len(content))]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << source.randrange(8)
        path.write_bytes(changed)
        try:
            found_table, found = read_part(path)
        except BrokenPartError:
            noticed += 1
        else:  # a byte that no reader uses, such as a statistic or the writer's version
            assert found_table.equals(table)
            assert found == index
    assert noticed > len(places) / 3


def test_a_changed_footer_is_noticed_without_reading_rows(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    path.write_bytes(part([row(n) for n in range(5)])[0])
    table = pq.read_table(path)
    said = table.schema.metadata[b"colrun"]
    for old, new in [
        (b"0:5", b"0:9"),
        (b"0:5", b"0;5"),
        (b"tbptt-3", b"tbptt-4"),
        (b'"numerics": 1', b'"numerics": 2'),
    ]:
        assert old in said
        pq.write_table(table.replace_schema_metadata({b"colrun": said.replace(old, new)}), path)
        with pytest.raises(BrokenPartError, match="footer that is not what was written"):
            read_index(path)


@pytest.mark.parametrize("kept", [0, 1, 4, 100, -1])
def test_truncation_is_seen_by_the_footer_alone(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "part.parquet"
    path.write_bytes(part([row(0)])[0][:kept])
    with pytest.raises(BrokenPartError, match=r"part\.parquet: is cut short"):
        read_index(path)


@pytest.mark.parametrize(
    "content", [b"PAR1", b"\0" * 5000, b"PAR1" + b"\xff" * 500 + b"PAR1", random.Random(1).randbytes(3000)]
)
def test_garbage_is_seen(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "part.parquet"
    path.write_bytes(content)
    with pytest.raises(BrokenPartError):
        read_part(path)


def test_a_parquet_file_of_another_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    pq.write_table(make_table(get_experiment("alignment"), "tiny", [row(0)]), path)
    with pytest.raises(BrokenPartError, match="was not written by colrun"):
        read_index(path)


def test_the_footer_is_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    path.write_bytes(part([row(0)])[0])
    described = json.loads(pq.read_schema(path).metadata[b"colrun"])
    assert described["done"] == {"0123456789abcdef": {"tbptt-3": "0:1"}}
    assert described["rows"] == 1
