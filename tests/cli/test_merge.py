"""`colrun merge`."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from colrun.store.load import load
from colrun.store.parts import encode, read_part
from colrun.store.paths import Paths
from tests.runs import DECAY, TINY, bits, colrun, refused, snapshot, write


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of 30 jobs on two machines, `one` and `two`, and on a single one, `whole`."""
    folder = tmp_path_factory.mktemp("made")
    path = write(folder, TINY)
    for seeds, out in (("0:2", "one"), ("2", "one"), ("3:5", "two"), ("0:5", "whole")):
        assert colrun("sweep", path, "-j", 1, "--seeds", seeds, "--out", folder / out).exit_code == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to play with."""
    shutil.copytree(made, tmp_path / "here", symlinks=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def alter(folder: Path, column: str, value: Any) -> str:
    """Another number in the first row of a part, as another machine may have computed it; returns the row's job."""
    (part, *_) = Paths.of(folder, "tiny").parts()
    table, index = read_part(part)
    values = table[column].to_pylist()
    values[0] = value
    place = table.schema.get_field_index(column)
    table = table.set_column(place, table.schema.field(column), pa.array(values, table.schema.field(column).type))
    part.write_bytes(encode(table, index))
    return str(table["job"][0])


def test_two_machines_give_the_table_of_one(here: Path) -> None:
    before = snapshot(here / "one") | snapshot(here / "two")
    result = colrun("merge", "one", "two", "--out", "all")
    assert result.exit_code == 0
    assert result.stdout == f"tiny: 60 rows from 2 folder(s), 0 there before, 60 new → {Path('all/tiny')}\n"
    assert bits(Path("all/tiny")) == bits(Path("whole/tiny"))
    assert snapshot(here / "one") | snapshot(here / "two") == before, "sources are only read"
    status = colrun("status", "sweep.toml", "--results", "all", "--verify")
    assert "30 of 30 jobs done, 0 failed, 0 missing" in status.stdout
    resumed = colrun("sweep", "sweep.toml", "-j", 1, "--out", "all")
    assert "30 jobs, 30 done before, 0 computed" in resumed.stdout


@pytest.mark.usefixtures("here")
def test_provenance_comes_along() -> None:
    colrun("merge", "one", "two", "--out", "all")
    runs = {path.name: path.read_bytes() for name in ("one", "two") for path in Path(name, "tiny", "_runs").iterdir()}
    assert {path.name: path.read_bytes() for path in Path("all/tiny/_runs").iterdir()} == runs
    named = [read_part(part)[1].run for part in Paths.of("all", "tiny").parts()]
    assert {f"{run}.json" for text in named for run in text.removeprefix("compact:").split(",")} == set(runs)
    assert "tiny: 30 of 30 jobs done" in colrun("status", "--results", "all").stdout, "known by the runs' sweep file"


def test_what_is_there_stays_and_exact_duplicates_are_dropped(here: Path) -> None:
    before = snapshot(here / "one" / "tiny" / "_generations")
    result = colrun("merge", "two", "whole", "one", "--out", "one")
    assert result.stdout == f"tiny: 84 rows from 2 folder(s), 60 there before, 24 new → {Path('one/tiny')}\n"
    assert bits(Path("one/tiny")) == bits(Path("whole/tiny"))
    assert snapshot(here / "one" / "tiny" / "_generations").items() >= before.items()
    again = colrun("merge", "two", "whole", "--out", "one")
    assert "84 there before, 0 new" in again.stdout


@pytest.mark.usefixtures("here")
def test_estimators_of_one_job_from_two_machines() -> None:
    for name in ("master-user", "tbptt-3,tbptt-1"):
        colrun("sweep", "sweep.toml", "-j", 1, "--estimators", name, "--out", name)
    result = colrun("merge", "master-user", "tbptt-3,tbptt-1", "whole", "--out", "all")
    assert "150 rows from 3 folder(s), 60 there before, 90 new" in result.stdout
    rows = bits(Path("all/tiny"))
    assert {key: row for key, row in rows.items() if key[2] != 1} == bits(Path("whole/tiny"))


def test_a_sweep_s_own_folder_and_several_sweeps(here: Path) -> None:
    path = write(here, DECAY, file="fading.toml")
    colrun("sweep", path, "-j", 1, "--out", "two")
    assert colrun("merge", "one/tiny", "two", "--out", "all").exit_code == 0
    assert bits(Path("all/tiny")) == bits(Path("whole/tiny"))
    assert bits(Path("all/fading")) == bits(Path("two/fading"))
    again = colrun("merge", "two", "--out", "all")
    assert [line.split(" → ")[0] for line in again.stdout.splitlines()] == [
        "fading: 90 rows from 1 folder(s), 90 there before, 0 new",
        "tiny: 24 rows from 1 folder(s), 24 there before, 0 new",
    ]


def test_other_numbers_for_the_same_job_are_refused(here: Path) -> None:
    value = bits(Path("whole/tiny"))
    job = alter(here / "whole", "alignment", 0.12345)
    said = refused("merge", "one", "two", "whole", "--out", "all")
    old = float.fromhex(value[job, "master-user", None, None, None]["alignment"])
    assert f"job {job}, estimator master-user: alignment is {old!r} in" in said
    assert "0.12345 in" in said
    assert "numbers of the same job must be equal" in said
    shutil.copytree("one", "all", symlinks=True)
    assert job in refused("merge", "whole", "--out", "all"), "what is in the target counts too"


def test_times_of_the_same_job_may_differ(here: Path) -> None:
    """What is counted must be equal; how long it took never is."""
    price = {**TINY, "experiment": "cost", "seeds": "0", "lateral": "0%", "columns": 2}
    for out in ("first", "second"):
        assert colrun("sweep", write(here, price), "-j", 1, "--out", out).exit_code == 0
    assert colrun("merge", "first", "second").exit_code == 0
    assert len(load("results/tiny")) == len(load("first/tiny"))


def test_a_conflict_in_the_last_sweep_leaves_all_unwritten(here: Path) -> None:
    write(here, DECAY, file="fading.toml")
    for out in ("one", "two"):
        colrun("sweep", "fading.toml", "-j", 1, "--out", out)
    alter(here / "whole", "cosine", None)
    assert "and nan in " in refused("merge", "one", "two", "whole", "--out", "all")


def test_other_versions_and_experiments_are_refused(here: Path) -> None:
    (part,) = Paths.of("two", "tiny").parts()
    table, index = read_part(part)
    part.write_bytes(encode(table, replace(index, numerics=0)))
    said = refused("merge", "one", "two", "--out", "all")
    assert f"rows of experiment alignment, numerics version {index.numerics}, and" in said
    assert "of alignment, version 0; they are never mixed" in said
    write(here, {**DECAY, "name": "tiny"}, file="other.toml")
    colrun("sweep", "other.toml", "-j", 1, "--out", "other")
    assert "of decay, version" in refused("merge", "one", "other", "--out", "all")


@pytest.mark.usefixtures("here")
def test_failures_come_along_unless_another_machine_did_the_job() -> None:
    done, lost = next(iter(bits(Path("two/tiny"))))[0], "0123456789abcdef.7"
    for job in (done, lost):
        facts = {"job": job, "error": "E", "estimators": ["master-user", "tbptt-3"], "experiment": "alignment"}
        facts |= {"parameters": {}, "run": "", "traceback": ""}
        Path("one/tiny/_failed", f"{job}.json").write_text(json.dumps(facts))
    colrun("merge", "one", "--out", "all")
    assert {path.stem for path in Path("all/tiny/_failed").iterdir()} == {done, lost}
    colrun("merge", "two", "--out", "all")
    assert [path.stem for path in Path("all/tiny/_failed").iterdir()] == [lost]


@pytest.mark.usefixtures("here")
def test_broken_parts_are_named_and_left_out() -> None:
    parts = Paths.of("one", "tiny").parts()
    parts[1].write_bytes(parts[1].read_bytes()[:-5])
    result = colrun("merge", "one", "two", "--out", "all")
    assert result.exit_code == 1
    assert f"broken part, left out; `colrun sweep` runs its jobs again: {parts[1].absolute()}" in result.stderr
    assert len(bits(Path("all/tiny"))) == 48
    colrun("sweep", "sweep.toml", "-j", 1, "--out", "all")
    assert bits(Path("all/tiny")) == bits(Path("whole/tiny"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone"], "there is no folder gone; give results folders of other machines"),
        (["empty"], "empty holds no results of a sweep"),
        (["one", "--out", "one"], "only one itself was given"),
        (["unlinked", "two", "--out", "all"], "copied without their links"),
        ([], "Missing argument 'DIR...'"),
    ],
)
def test_bad_input(here: Path, arguments: list[str], message: str) -> None:
    (here / "empty").mkdir()
    shutil.copytree("one", "unlinked", symlinks=True)
    Path("unlinked/tiny/rows").unlink()
    assert message in refused("merge", *arguments)


def test_a_broken_part_of_the_target_is_set_aside(here: Path) -> None:
    shutil.copytree("one", "all", symlinks=True)
    victim = Paths.of(here / "all", "tiny").parts()[0]
    victim.write_bytes(b"garbage")
    result = colrun("merge", "one", "two", "--out", "all")
    assert result.exit_code == 1, "a part was lost, whether or not the others had its rows"
    assert victim.name in result.stderr
    assert bits(Path("all/tiny")) == bits(Path("whole/tiny"))
    assert len(pd.read_parquet("all/tiny")) == 60
