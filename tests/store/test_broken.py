"""Parts that are not what was written: noticed, named, set aside and computed again."""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from colrun.store.compact import compact
from colrun.store.load import BrokenPartWarning, load
from colrun.store.paths import Paths
from tests.runs import bits, colrun, computed, resume


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbage(path: Path) -> None:
    path.write_bytes(b"\x9c" * path.stat().st_size)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def swapped(path: Path) -> None:
    """Well-formed Parquet with the footer of another part."""
    other = next(p for p in path.parent.iterdir() if p != path)
    table = pq.read_table(other).replace_schema_metadata(pq.read_schema(path).metadata)
    pq.write_table(table, path)


@pytest.mark.parametrize("harm", [truncate, garbage, empty, swapped])
@pytest.mark.parametrize("compacted", [False, True])
def test_a_broken_part_is_noticed_named_and_recomputed(paths: Paths, harm: Any, compacted: bool) -> None:
    before = bits(paths.sweep)
    if compacted:
        compact(paths)
        resume(paths, "--seeds", 7)
        before = bits(paths.sweep)
    victim = paths.parts()[0]
    lost = pd.read_parquet(victim)["job"].nunique()
    harm(victim)
    with pytest.warns(BrokenPartWarning, match=victim.name):
        frame = load(paths.sweep)
    assert len(frame) == len(before) - 2 * lost
    said = colrun("status", "tiny", "--results", paths.sweep.parent, "--verify")
    assert said.exit_code == 1
    assert f"broken {victim}" in said.stdout
    again = resume(paths, "--seeds", "0:5,7") if compacted else resume(paths)
    assert again.exit_code == 0
    assert computed(again) == lost
    assert f"set aside in {paths.broken}" in again.stderr
    assert str(victim) in again.stderr
    assert [path.name for path in paths.broken.iterdir()] == [victim.name]
    assert bits(paths.sweep) == before
    assert "verified" in colrun("status", "tiny", "--results", paths.sweep.parent, "--verify").stdout


def test_compaction_names_the_part_that_is_broken(paths: Paths) -> None:
    truncate(paths.parts()[0])
    name = paths.parts()[0].name
    said = colrun("compact", "tiny", "--results", paths.sweep.parent)
    assert name in said.output
    assert len(bits(paths.sweep)) == 48
    assert computed(resume(paths)) == 6
