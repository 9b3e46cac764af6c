"""An experiment that is added by one folder (tests/toy) and one line: everything knows it by what it declares."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from colrun.experiments import EXPERIMENTS
from colrun.store.compact import compact
from colrun.store.index import read_done
from colrun.store.load import load
from colrun.store.parts import encode, full_schema, read_part
from colrun.store.paths import Paths
from colrun.sweep import plan
from colrun.sweep.file import parse_sweep
from colrun.sweep.plan import calls, entries, units
from tests.runs import colrun, computed, snapshot, write
from tests.toy import EXPERIMENT, ToyConfig
from tests.toy.job import BROKEN, CALLS

TOY: dict[str, Any] = {
    "name": "tiny-toy", "experiment": "toy", "seeds": "0:6", "rate": [0.1, 0.5], "shape": ["straight", "round"],
}  # fmt: skip
"""24 jobs of 4 rows."""


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The one line, and a folder to work in."""
    monkeypatch.setitem(EXPERIMENTS, "toy", EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TOY)
    CALLS.clear()
    BROKEN.clear()
    yield
    BROKEN.clear()


def test_it_is_swept_shown_exported_compacted_and_merged() -> None:
    assert "24 jobs, 24 results" in colrun("sweep", "sweep.toml", "--dry-run").stdout
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--seeds", "0:3")) == 12
    assert computed(colrun("sweep", "sweep.toml", "-j", 1)) == 12
    assert computed(colrun("sweep", "sweep.toml", "-j", 1)) == 0
    said = colrun("status", "sweep.toml", "--verify").stdout
    assert "tiny-toy: 24 of 24 jobs done, 0 failed, 0 missing, 0 diverged; 96 rows in 2 part(s)" in said
    rows = load("results/tiny-toy")
    assert len(rows) == 96
    assert not rows.duplicated(["job", "step"]).any()
    one = rows[(rows["rate"] == 0.5) & (rows["seed"] == 3) & (rows["shape"] == "round")]
    assert one["value"].tolist() == [3.5, 4.75, 5.375, 5.6875]
    pandas = pd.read_parquet("results/tiny-toy").sort_values(["job", "step"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(pandas, rows.sort_values(["job", "step"]).reset_index(drop=True))
    job = str(one["job"].iloc[0])
    shown = colrun("show", job).stdout
    assert "  rate = 0.5\n" in shown
    assert "5.6875" in shown
    assert len(colrun("export", "tiny-toy", "--csv").stdout.splitlines()) == 97
    assert f"job {job}" in colrun("job", "sweep.toml", job, "--again").stdout
    assert "2 part(s) → 1" in colrun("compact", "sweep.toml").stdout
    pd.testing.assert_frame_equal(load("results/tiny-toy"), rows)
    assert colrun("merge", "results", "--out", "joined").exit_code == 0
    assert "0 new" in colrun("merge", "results", "--out", "joined").stdout
    pd.testing.assert_frame_equal(load("joined/tiny-toy"), rows)


def test_times_may_differ_where_rows_are_merged_and_nothing_else() -> None:
    for out in ("one", "two"):
        colrun("sweep", "sweep.toml", "-j", 1, "--out", out)
    assert "96 there before, 0 new" in colrun("merge", "one", "--out", "two").stdout
    (path,) = Paths.of("one", "tiny-toy").parts()
    table, index = read_part(path)
    place = table.schema.get_field_index("colour")
    values = ["red", *table["colour"].to_pylist()[1:]]
    path.write_bytes(encode(table.set_column(place, table.schema.field(place), [values]), index))
    result = colrun("merge", "one", "--out", "two")
    assert result.exit_code == 2
    assert "step 0: colour is 'green' in" in result.stderr


def test_configs_that_go_together_are_computed_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    colrun("sweep", "sweep.toml", "-j", 1)
    assert sorted(CALLS) == sorted(
        2 * [[(rate, seed) for rate in (0.1, 0.5) for seed in some] for some in (range(4), (4, 5))]
    )
    monkeypatch.setattr(plan, "UNIT_SECONDS", 1e-9)
    sweep = parse_sweep(TOY, "x", "", {})
    found = list(units(sweep))
    assert [len(unit.pieces) for unit in found] == [2, 2, 2, 2]  # as short as can be, and no call is cut
    assert [len(list(calls(EXPERIMENT, unit))) for unit in found] == [1, 1, 1, 1]


def test_alone_or_together_they_are_the_same() -> None:
    colrun("sweep", "sweep.toml", "-j", 1, "--out", "whole")
    for rate in (0.5, 0.1):
        for seeds in ("5", "0:2", "2:5"):
            assert colrun("sweep", write(Path(), TOY | {"rate": rate, "seeds": seeds}), "-j", 1).exit_code == 0
    assert max(map(len, CALLS[4:])) == 2
    whole, apart = (load(folder).drop(columns="took") for folder in ("whole/tiny-toy", "results/tiny-toy"))
    pd.testing.assert_frame_equal(whole, apart)


def test_only_the_job_that_fails_of_a_call_is_lost() -> None:
    BROKEN.add((0.5, 2))
    result = colrun("sweep", "sweep.toml", "-j", 1)
    assert result.exit_code == 1
    assert "22 computed, 2 failed" in result.stdout
    assert "ZeroDivisionError: seed 2" in colrun("status", "sweep.toml").stdout
    failed = [json.loads(path.read_text()) for path in Path("results/tiny-toy/_failed").iterdir()]
    assert {(facts["parameters"]["rate"], facts["parameters"]["seed"]) for facts in failed} == {(0.5, 2)}
    BROKEN.clear()
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--retry-failed")) == 2


def test_an_axis_that_came_later_is_left_out_of_the_identity_at_its_first_default() -> None:
    config = EXPERIMENT.point(rate=0.5)
    assert EXPERIMENT.canonical(config) == "experiment=toy;numerics=1;shape='straight';rate=0.5;steps=4"
    other = EXPERIMENT.point(rate=0.5, start=2)
    assert EXPERIMENT.canonical(other) == "experiment=toy;numerics=1;shape='straight';rate=0.5;steps=4;start=2"
    # Its default may change one day; what is left out never does.
    axis = EXPERIMENT.axis("start")
    assert [axis.identifies(value) for value in (1, 2, True, 1.0, None)] == [False, True, True, True, True]


def test_rows_from_before_columns_are_completed_before_new_ones_are_published() -> None:
    colrun("sweep", "sweep.toml", "-j", 1, "--seeds", "0:3")
    paths = Paths.of("results", "tiny-toy")
    (path,) = paths.parts()
    table, index = read_part(path)
    path.write_bytes(encode(table.drop_columns(["start", "colour", "took"]), index))
    assert read_done(paths).older == 1
    before = snapshot(paths.sweep)
    frame = load(paths.sweep)
    assert frame.columns.tolist() == full_schema(EXPERIMENT).names
    assert (set(frame["start"]), set(frame["colour"])) == ({1}, {"grey"})
    assert frame["took"].isna().all()
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--seeds", "0:3")) == 0
    assert snapshot(paths.sweep) == before  # nothing is published, so nothing is touched
    assert computed(colrun("sweep", "sweep.toml", "-j", 1)) == 12
    assert read_done(paths, verify=True).older == 0
    pandas = pd.read_parquet(paths.sweep)
    assert pandas.columns.tolist() == full_schema(EXPERIMENT).names
    assert pandas.groupby("colour")["seed"].unique().map(sorted).to_dict() == {"grey": [0, 1, 2], "green": [3, 4, 5]}
    assert set(pandas["start"]) == {1}
    assert compact(paths) == (2, 1, [])


def test_a_declaration_that_lacks_a_column_is_refused() -> None:
    with pytest.raises(TypeError, match="experiment toy declares no column step"):
        replace(EXPERIMENT, columns=tuple(column for column in EXPERIMENT.columns if column.name != "step"))


def test_it_is_planned_as_declared() -> None:
    found = list(entries(parse_sweep(TOY | {"steps": [2, 3]}, "x", "", {})))
    assert [entry.config for entry in found] == [
        ToyConfig(shape=shape, rate=rate, steps=steps, start=1)
        for shape in ("straight", "round")
        for rate in (0.1, 0.5)
        for steps in (2, 3)
    ]
