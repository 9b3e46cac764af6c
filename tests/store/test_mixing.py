"""Never mixed, at any moment: what starting refuses, publishing refuses too, whoever came first."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest

from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS
from colrun.experiments import Experiment, get_experiment
from colrun.store import compact as compaction
from colrun.store.compact import compact, leave_out
from colrun.store.generations import set_part_aside
from colrun.store.index import Watch, read_done, set_stale_aside
from colrun.store.paths import Paths, claim
from colrun.store.publish import publish_rows
from colrun.sweep.plan import Piece

ALIGNMENT = get_experiment("alignment")
NEWER = replace(ALIGNMENT, numerics=ALIGNMENT.numerics + 1)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths.of(tmp_path, "small")
    paths.prepare()
    return paths


def put(paths: Paths, seed: int, experiment: Experiment = ALIGNMENT, key: str = "master-user") -> None:  # type: ignore[type-arg]
    name, _, version = key.partition("@v")
    piece = Piece(experiment.point(), "c0", (key,), (seed,))
    row = {"seed": seed, "estimator": name, "window": None, "estimator_numerics": int(version or 1)}
    row |= {"plugin": None, "diverged": False, "job": f"c0.{seed}"}
    another = {name: replace(ESTIMATORS[name], numerics=int(version or 1))}
    with patch.dict(ESTIMATORS, another):  # as a program of that version does
        publish_rows(Watch(paths), experiment, "small", "run", {(piece, seed): [row]}, 1.0)


def test_two_numerics_that_started_at_once(paths: Paths) -> None:
    put(paths, 1)
    with pytest.raises(InvalidValueError, match="they are stale and are never mixed with new ones"):
        put(paths, 2, NEWER)
    assert list(pd.read_parquet(paths.sweep)["seed"]) == [1]


def test_two_experiments_that_started_at_once(paths: Paths) -> None:
    put(paths, 1)
    with pytest.raises(InvalidValueError, match="holds rows of experiment alignment, and this sweep's is decay"):
        publish_rows(Watch(paths), get_experiment("decay"), "small", "run", {}, 1.0)


def test_two_forms_of_an_estimator_that_started_at_once(paths: Paths) -> None:
    put(paths, 1, key="master-user@v9")
    with pytest.raises(InvalidValueError, match="holds rows of master-user@v9, and this program computes"):
        put(paths, 2)


def test_what_came_between_looking_and_writing_is_seen(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[int] = []

    def other_first(*arguments: object) -> bool:
        if not late:
            late.append(1)
            put(paths, 1, NEWER)
        return claim(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("colrun.store.index.claim", other_first)
    with pytest.raises(InvalidValueError, match="never mixed"):
        put(paths, 2)
    assert read_done(paths).versions == {NEWER.numerics}


def test_stale_rows_set_aside_by_several_at_once(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        put(paths, seed)
    others: list[int] = []

    def another_between(*arguments: object) -> None:
        if not others:
            others.append(1)
            set_stale_aside(paths, NEWER)
        set_part_aside(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("colrun.store.index.set_part_aside", another_between)
    set_stale_aside(paths, NEWER)
    assert read_done(paths).rows == 0
    assert len(list((paths.stale / f"numerics-{ALIGNMENT.numerics}").iterdir())) == 4, "every part once"


def test_estimators_left_out_by_several_at_once(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        put(paths, seed)
        put(paths, seed, key="elman@v9")
    fill, others = compaction._fill, list[int]()

    def another_between(*arguments: object) -> int:
        if len(others) < 2:
            others.append(1)
            leave_out(paths, ["elman"])
        return fill(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compaction, "_fill", another_between)
    leave_out(paths, ["elman"])
    assert read_done(paths).keys == {"master-user"}
    assert sorted(pd.read_parquet(paths.sweep)["seed"]) == [0, 1, 2]
    compact(paths)
    assert paths.generation_names() == [paths.generation().name], "what has a successor is gone"
