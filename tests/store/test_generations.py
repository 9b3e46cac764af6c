"""Several processes in one folder, step by step: what each sees between any two steps of another."""

import os
from pathlib import Path

import pandas as pd
import pytest

from colrun.errors import StoreError
from colrun.experiments import get_experiment
from colrun.store import compact as compaction
from colrun.store.generations import part_path, settle, tidy
from colrun.store.index import Done, Watch, publish, read_done, set_aside
from colrun.store.parts import BrokenPartError, PartIndex, encode, make_table
from colrun.store.paths import Paths

ALIGNMENT = get_experiment("alignment")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths.of(tmp_path, "small")
    paths.prepare()
    return paths


def part(known: Done, seeds: list[int]) -> bytes | None:
    """What is not known of these seeds."""
    left = [seed for seed in seeds if known.missing("c0", seed, ("master-user",))]
    if not left:
        return None
    rows = [{"seed": seed, "estimator": "master-user", "job": f"c0.{seed}", "diverged": False} for seed in left]
    done = {"c0": {"master-user": ",".join(map(str, left))}}
    return encode(make_table(ALIGNMENT, "small", rows), PartIndex("alignment", 1, done, len(left), 0, "run", 1.0, 1.0))


def put(paths: Paths, *seeds: int) -> None:
    publish(Watch(paths), lambda known: part(known, list(seeds)))


def seeds(paths: Paths) -> list[int]:
    """As plain pandas reads them."""
    return sorted(pd.read_parquet(paths.sweep)["seed"])


def test_what_came_between_looking_and_writing_is_left_out(paths: Paths) -> None:
    slow = Watch(paths)
    asked: list[int] = []

    def content(known: Done) -> bytes | None:
        made = part(known, [1, 2, 3])
        if not asked:
            put(paths, 2, 3, 4)
        asked.append(known.count())
        return made

    publish(slow, content)
    assert asked == [0, 3]
    assert seeds(paths) == [1, 2, 3, 4]


def test_a_compaction_takes_over_what_came_while_it_worked(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    put(paths, 1)
    put(paths, 2)
    fill = compaction._fill

    def slow_fill(*arguments: object) -> int:
        files = fill(*arguments)  # type: ignore[arg-type]
        put(paths, 3)
        return files

    monkeypatch.setattr(compaction, "_fill", slow_fill)
    watch = Watch(paths)
    watch.refresh()
    assert compaction.compact(paths) == (2, 2, [])
    assert seeds(paths) == [1, 2, 3]
    assert watch.refresh().count() == 3
    put(paths, 3, 4)
    assert seeds(paths) == [1, 2, 3, 4]


def test_the_second_of_two_compactions_gives_way(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    put(paths, 1)
    put(paths, 2)
    fill = compaction._fill

    def slow_fill(*arguments: object) -> int:
        files = fill(*arguments)  # type: ignore[arg-type]
        monkeypatch.setattr(compaction, "_fill", fill)
        compaction.compact(paths)
        return files

    monkeypatch.setattr(compaction, "_fill", slow_fill)
    with pytest.raises(compaction.ChangedMeanwhileError):
        compaction.compact(paths)
    assert seeds(paths) == [1, 2]
    assert not list(paths.temporary.iterdir())


@pytest.fixture
def sealed(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A compaction killed right after its seal."""
    put(paths, 1)
    put(paths, 2)
    calls: list[Paths] = []

    def killed_second_time(where: Paths) -> None:
        calls.append(where)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(compaction, "tidy", killed_second_time)
    with pytest.raises(KeyboardInterrupt):
        compaction.compact(paths)
    assert paths.generation().name == "000001"
    assert seeds(paths) == [1, 2]
    assert read_done(paths).parts == 2
    return paths


def test_whoever_meets_a_seal_completes_the_switch(sealed: Paths) -> None:
    put(sealed, 2, 3)
    assert sealed.generation().name == "000002"
    assert os.readlink(sealed.rows) == "_generations/000002"
    assert seeds(sealed) == [1, 2, 3]
    tidy(sealed)
    assert [path.name for path in sealed.generations.iterdir()] == ["000002"]
    assert not list(sealed.temporary.iterdir())


def test_where_the_successor_of_a_seal_has_gone_its_parts_go_on(sealed: Paths) -> None:
    """As after a compaction that was suspended so long that another process took its folder for garbage."""
    (left,) = sealed.temporary.iterdir()
    left.rename(sealed.sweep / "_elsewhere")
    put(sealed, 2, 3)
    assert sealed.generation().name == "000002"
    assert seeds(sealed) == [1, 2, 3]
    tidy(sealed)
    assert [path.name for path in sealed.generations.iterdir()] == ["000002"]
    assert seeds(sealed) == [1, 2, 3]
    assert not list(sealed.temporary.iterdir())


def test_a_link_that_points_to_an_older_generation_is_mended(sealed: Paths) -> None:
    settle(sealed)
    sealed.rows.unlink()
    sealed.rows.symlink_to("_generations/000001")
    tidy(sealed)
    assert os.readlink(sealed.rows) == "_generations/000002"
    assert seeds(sealed) == [1, 2]


def test_the_number_of_a_part_set_aside_is_not_taken_again(paths: Paths) -> None:
    watch = Watch(paths)
    put(paths, 1)
    put(paths, 2)
    assert watch.refresh().count() == 2
    last = part_path(paths.generation(), 2)
    set_aside(paths, [BrokenPartError(paths.rows / last.name, "for the test")])
    assert (paths.broken / last.name).exists()
    assert watch.refresh().count() == 1, "it is not done any more, also for who has seen it before"
    put(paths, 2)
    assert not last.exists()
    assert part_path(paths.generation(), 3).exists()
    assert seeds(paths) == [1, 2]


def test_results_copied_without_links_are_refused(paths: Paths) -> None:
    put(paths, 1)
    paths.rows.unlink()
    paths.rows.mkdir()
    with pytest.raises(StoreError, match="copied without their links"):
        paths.prepare()
