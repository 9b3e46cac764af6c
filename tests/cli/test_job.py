"""`colrun job`."""

import json
from pathlib import Path

import pytest

from colrun.store.load import load
from colrun.sweep.seeds import Seeds
from tests.runs import TINY, bits, colrun, refused, write

pytestmark = pytest.mark.usefixtures("here")


def test_what_is_done_is_not_done_again(here: Path) -> None:
    config = load(here / "results" / "tiny")["job"].iloc[0].split(".")[0]
    assert colrun("job", "sweep.toml", f"{config}.3").stdout == "tiny: 1 job(s), 1 done before, 0 failed\n"
    assert colrun("job", "sweep.toml", config).stdout == "tiny: 5 job(s), 4 done before, 0 failed\n"
    assert len(bits(here / "results" / "tiny")) == 50
    assert colrun("job", "sweep.toml", f"{config}.0:2/{config}.4").stdout == "tiny: 3 job(s), 3 done before, 0 failed\n"


def test_bad_input(here: Path) -> None:
    config = load(here / "results" / "tiny")["job"].iloc[0].split(".")[0]
    for jobs, unknown in {
        "abc.1": "abc",
        f"{config}.5": f"{config}.5",
        f"{config}.0:9": f"{config}.5",
        "": "",
    }.items():
        for extra in ([], ["--again"]):
            assert refused("job", "sweep.toml", jobs, *extra).startswith(f"Error: sweep tiny has no job '{unknown}'")
    assert "cannot be read" in refused("job", "sweep.toml", f"{config}.x")
    assert "no ID is given; `colrun job SWEEP --list`" in refused("job", "sweep.toml")
    assert "give it neither an ID nor --again" in refused("job", "sweep.toml", "--list", f"{config}.0")
    assert "give it neither an ID nor --again" in refused("job", "sweep.toml", "--list", "--again")
    assert "are for --list" in refused("job", "sweep.toml", f"{config}.0", "--seconds", "3")


def ids(text: str) -> list[str]:
    """Every job of a list, one by one."""
    found = []
    for part in text.split("\n")[:-1]:
        for each in part.split("/"):
            config, _, seeds = each.partition(".")
            found += [f"{config}.{seed}" for seed in Seeds.parse(seeds)]
    return found


def test_the_list_is_what_is_missing(here: Path) -> None:
    every = {str(job) for job in load(here / "results" / "tiny")["job"]}
    listed = colrun("job", "sweep.toml", "--list").stdout
    assert len(listed.splitlines()) == 1
    assert {job.split(".")[1] for job in ids(listed)} == {"4"}, "seeds 0 to 3 are done"
    everything = ids(colrun("job", "sweep.toml", "--list", "--results", "nowhere").stdout)
    assert len(everything) == 30
    assert set(everything) == every | set(ids(listed))
    assert not Path("nowhere").exists()
    assert colrun("job", "sweep.toml", listed.strip()).stdout == "tiny: 6 job(s), 0 done before, 0 failed\n"
    assert colrun("job", "sweep.toml", "--list").stdout == ""


FAILURE = {"error": "E", "experiment": "alignment", "parameters": {}, "estimators": ["master-user", "tbptt-3"]}
FAILURE |= {"run": "", "traceback": ""}


def test_failed_jobs_are_listed_on_request(here: Path) -> None:
    job = ids(colrun("job", "sweep.toml", "--list").stdout)[0]
    (here / "results" / "tiny" / "_failed" / f"{job}.json").write_text(json.dumps(FAILURE | {"job": job}))
    assert job not in ids(colrun("job", "sweep.toml", "--list").stdout)
    assert job in ids(colrun("job", "sweep.toml", "--list", "--retry-failed").stdout)


def test_batches_by_work_and_by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colrun.sweep.plan.UNIT_SECONDS", 0.0)
    whole = colrun("job", "sweep.toml", "--list", "--results", "nowhere").stdout
    assert len(whole.splitlines()) == 1
    single = colrun("job", "sweep.toml", "--list", "--results", "nowhere", "--seconds", "0").stdout
    assert len(single.splitlines()) == 6, "a unit is the least"
    guided = colrun("job", "sweep.toml", "--list", "--results", "nowhere", "--slots", "1").stdout.splitlines()
    sizes = [len(ids(line + "\n")) for line in guided]
    assert sizes[0] > sizes[-1], "the last ones are small"
    monkeypatch.setattr("colrun.run.batches.LONGEST", 50)
    short = colrun("job", "sweep.toml", "--list", "--results", "nowhere").stdout
    assert all(len(line) <= 50 for line in short.splitlines())
    for text in (single, "".join(f"{line}\n" for line in guided), short):
        assert sorted(ids(text)) == sorted(ids(whole))


def test_units_of_many_seeds_are_cut(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is published in several parts, so that a signal costs one of them only."""
    monkeypatch.setattr("colrun.sweep.plan.UNIT_SECONDS", 0.0)
    listed = colrun("job", "sweep.toml", "--list", "--results", "new").stdout.strip()
    assert colrun("job", "sweep.toml", "--results", "new", listed).exit_code == 0
    assert len(list((here / "new" / "tiny" / "rows").iterdir())) == 6
    old = bits(here / "results" / "tiny")
    assert {key: row for key, row in bits(here / "new" / "tiny").items() if key in old} == old


@pytest.mark.filterwarnings("always::colrun.store.load.SetAsideWarning")
def test_a_broken_part_is_set_aside_and_named(here: Path) -> None:
    before = bits(here / "results" / "tiny")
    victim = sorted((here / "results" / "tiny" / "rows").glob("*.parquet"))[0]
    victim.write_bytes(b"garbage")
    lines = colrun("job", "sweep.toml", "--list", "--seeds", "0:4").stdout.splitlines()
    result = colrun("job", "sweep.toml", *lines)
    assert result.exit_code == 0
    assert f"; it is set aside in {Path('results/tiny/_broken')}, and its jobs are missing." in result.stderr
    assert bits(here / "results" / "tiny") == before
    assert colrun("status", "tiny").exit_code == 0


def test_a_job_without_rows_afterwards_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, TINY)
    (line, *_) = colrun("job", path, "--list", "--results", tmp_path).stdout.splitlines()
    monkeypatch.setattr("colrun.store.publish.publish", lambda *_: None)  # as if another process removed the part
    said = colrun("job", path, line, "--results", tmp_path)
    assert said.exit_code == 1
    assert "have no rows in" in said.stderr
