"""A job's rows are the same to the last bit however it was run, and what is done is never done again."""

from pathlib import Path
from typing import Any

import pytest

from tests.runs import DECAY, TINY, bits, colrun, computed, write


@pytest.fixture
def whole(tmp_path: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of an undisturbed run in one process."""
    result = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path / "whole")
    assert computed(result) == 30
    return bits(tmp_path / "whole" / "tiny")


Rows = dict[tuple[Any, ...], dict[str, Any]]


def test_two_workers(tmp_path: Path, whole: Rows) -> None:
    assert len(whole) == 60
    result = colrun("sweep", write(tmp_path, TINY), "-j", 2, "--out", tmp_path / "two")
    assert computed(result) == 30
    assert bits(tmp_path / "two" / "tiny") == whole


def test_single_jobs(tmp_path: Path, whole: Rows) -> None:
    path = write(tmp_path, TINY)
    jobs = sorted({row["job"] for row in whole.values()}, reverse=True)
    for chosen in (jobs[:3], jobs[3:]):  # in two calls, and in an order of their own
        result = colrun("job", path, *chosen, "--results", tmp_path / "single")
        assert f"tiny: {len(chosen)} job(s), 0 done before, 0 failed" in result.stdout
    assert bits(tmp_path / "single" / "tiny") == whole


def test_one_seed_alone_and_in_another_order(tmp_path: Path, whole: Rows) -> None:
    path = write(tmp_path, TINY)
    for seed in (3, 0, 4, 2, 1):
        assert computed(colrun("sweep", path, "-j", 1, "--seeds", seed, "--out", tmp_path / "alone")) == 6
    assert bits(tmp_path / "alone" / "tiny") == whole
    turned = {**TINY, "columns": [4, 3], "lateral": ["dense", "50%", "0%"], "estimators": TINY["estimators"][::-1]}
    colrun("sweep", write(tmp_path, turned), "-j", 1, "--out", tmp_path / "turned")
    assert bits(tmp_path / "turned" / "tiny") == whole


def test_one_seed_among_many_blocks(tmp_path: Path) -> None:
    # 50 networks are one batch here: seed 51 stands at place 1 of the second.
    path = write(tmp_path, {**TINY, "columns": 3, "lateral": "50%", "seeds": "0:120"})
    assert computed(colrun("sweep", path, "-j", 1, "--out", tmp_path / "many")) == 120
    many = bits(tmp_path / "many" / "tiny")
    for seeds in ("51", "49:51", "119"):
        colrun("sweep", path, "-j", 1, "--seeds", seeds, "--out", tmp_path / "few")
    few = bits(tmp_path / "few" / "tiny")
    assert len(few) == 8
    assert few.items() <= many.items()


@pytest.mark.parametrize(
    ("change", "new_jobs", "new_rows"),
    [
        ({"seeds": "0:12"}, 6 * 7, 6 * 7 * 2),
        ({"lateral": ["0%", "10%", "50%", "dense"]}, 2 * 5, 2 * 5 * 2),
        ({"estimators": ["bptt", "master-user", "tbptt-3"]}, 30, 30),  # of old jobs, the new estimator only
        ({"columns": [3, 4, 5], "seeds": "3:7"}, 6 * 2 + 3 * 4, 2 * (6 * 2 + 3 * 4)),
        ({"name": "tiny", "description": "other words"}, 0, 0),
    ],
)
def test_editing_the_grid_runs_only_what_is_new(
    tmp_path: Path, whole: Rows, change: dict[str, Any], new_jobs: int, new_rows: int
) -> None:
    assert computed(colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path / "grown")) == 30
    folder = tmp_path / "grown" / "tiny"
    before = {path.name: path.read_bytes() for path in (folder / "rows").iterdir()}
    edited = write(tmp_path, {**TINY, **change})
    assert computed(colrun("sweep", edited, "-j", 1, "--out", tmp_path / "grown")) == new_jobs
    after = {path.name: path.read_bytes() for path in (folder / "rows").iterdir()}
    assert before.items() <= after.items()  # old parts are not even touched
    rows = bits(folder)
    assert len(rows) == 60 + new_rows
    assert whole.items() <= rows.items()
    assert computed(colrun("sweep", edited, "-j", 1, "--out", tmp_path / "grown")) == 0
    # What came later is what a run of the whole edited grid gives.
    colrun("sweep", edited, "-j", 1, "--out", tmp_path / "fresh")
    fresh = bits(tmp_path / "fresh" / "tiny")
    assert fresh.items() <= rows.items()


def test_decay_is_the_same_too(tmp_path: Path) -> None:
    path = write(tmp_path, DECAY)
    assert computed(colrun("sweep", path, "-j", 1, "--out", tmp_path / "one")) == 12
    one = bits(tmp_path / "one" / "fading")
    assert len(one) == 6 * 5 * 2 + 6 * 5  # lstm has h and memory
    for seed in (2, 0, 1):
        colrun("sweep", path, "-j", 1, "--seeds", seed, "--out", tmp_path / "other")
    assert bits(tmp_path / "other" / "fading") == one


def test_results_of_a_smaller_grid_stay_when_it_shrinks(tmp_path: Path, whole: Rows) -> None:
    result = colrun("sweep", write(tmp_path, {**TINY, "seeds": "0:2"}), "-j", 1, "--out", tmp_path / "whole")
    assert "12 jobs, 12 done before, 0 computed" in result.stdout
    assert bits(tmp_path / "whole" / "tiny") == whole
    said = colrun("status", write(tmp_path, {**TINY, "seeds": "0:2"}), "--results", tmp_path / "whole")
    assert "12 of 12 jobs done" in said.stdout
    assert "18 further job(s) in the folder are not in this sweep's grid" in said.stdout
