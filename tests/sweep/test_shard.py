"""Shards: every job in one of them, whatever is done already, with about the same work in each."""

from pathlib import Path

import pytest

from colrun.errors import InvalidValueError
from colrun.sweep import plan
from colrun.sweep.file import Sweep, read_sweep
from colrun.sweep.plan import units
from colrun.sweep.shard import Shard
from tests.runs import TINY, bits, colrun, computed, refused, write


@pytest.fixture(autouse=True)
def _short_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "UNIT_SECONDS", 0.0005)


def jobs(sweep: Sweep, shard: Shard | None) -> list[tuple[str, int]]:
    return [(piece.id, seed) for unit in units(sweep, shard=shard) for piece in unit.pieces for seed in piece.seeds]


@pytest.mark.parametrize("number", [1, 2, 3, 7, 1000])
def test_every_job_is_in_one_share(tmp_path: Path, number: int) -> None:
    content = {**TINY, "columns": [2, 3, 5, 8, 20], "width": [1, 4, 16], "seeds": "0:40"}
    sweep = read_sweep(str(write(tmp_path, content)))
    shares = [jobs(sweep, Shard(index, number)) for index in range(1, number + 1)]
    assert sorted(job for share in shares for job in share) == sorted(jobs(sweep, None))


def test_shares_differ_by_a_unit_at_most(tmp_path: Path) -> None:
    content = {**TINY, "columns": [2, 3, 5, 8, 20], "width": [1, 4, 16], "seeds": "0:40"}
    sweep = read_sweep(str(write(tmp_path, content)))
    largest = max(unit.seconds for unit in units(sweep))
    work = [sum(unit.seconds for unit in units(sweep, shard=Shard(index, 4))) for index in (1, 2, 3, 4)]
    assert max(work) - min(work) <= largest * 1.001
    assert sum(work) == pytest.approx(sum(unit.seconds for unit in units(sweep)))


def test_a_share_does_not_depend_on_what_is_done(tmp_path: Path) -> None:
    sweep = read_sweep(str(write(tmp_path, TINY)))
    half = jobs(sweep, Shard(1, 2))
    done = set(half[::2]) | set(jobs(sweep, Shard(2, 2))[:5])
    left = units(sweep, lambda config, seed, names: None if (config, seed) in done else names, Shard(1, 2))
    assert [(piece.id, seed) for unit in left for piece in unit.pieces for seed in piece.seeds] == [
        job for job in half if job not in done
    ]


@pytest.mark.parametrize("separate", [False, True])
def test_two_machines_with_and_without_a_shared_folder(tmp_path: Path, separate: bool) -> None:
    path = write(tmp_path, TINY)
    colrun("sweep", path, "-j", 1, "--out", tmp_path / "whole")
    outs = [tmp_path / "one", tmp_path / ("two" if separate else "one")]
    shares = [colrun("sweep", path, "-j", 1, "--out", out, "--shard", f"{n}/2") for n, out in enumerate(outs, start=1)]
    numbers = [computed(result) for result in shares]
    assert sum(numbers) == 30
    assert min(numbers) > 0
    assert shares[0].stdout.startswith(f"tiny (shard 1/2): {numbers[0]} jobs, 0 done before, {numbers[0]} computed")
    if separate:
        colrun("merge", *outs, "--out", tmp_path / "all")
    folder = tmp_path / ("all" if separate else "one") / "tiny"
    assert bits(folder) == bits(tmp_path / "whole" / "tiny")
    again = colrun("sweep", path, "-j", 1, "--out", outs[0], "--shard", "1/2")
    assert f"{numbers[0]} jobs, {numbers[0]} done before, 0 computed" in again.stdout


def test_dry_run_shows_the_share(tmp_path: Path) -> None:
    path = write(tmp_path, {**TINY, "columns": [1, 3]})
    shown = [colrun("sweep", path, "--dry-run", "--shard", f"{n}/2").stdout for n in (1, 2)]
    numbers = [int(text.split("tiny: ")[1].split(" jobs")[0]) for text in shown]
    assert sum(numbers) == 20
    assert f"tiny: {numbers[0]} jobs, {2 * numbers[0]} results in shard 1/2 ({path})" in shown[0]
    assert f"  to run    {numbers[0]}\n" in shown[0]
    assert "skipped   lateral ratio 0.5 needs other columns" in shown[0]


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1 /2", "1/9999999", "١/٢"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="it must be i/n with i from 1 to n"):
        Shard.parse(text)


def test_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TINY)
    assert refused("sweep", "sweep.toml", "--shard", "2/1").startswith("Error: shard '2/1' cannot be read; it must be")
