"""Parts that are not what was written: noticed, named, set aside and computed again."""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from colrun.store.compact import compact
from colrun.store.load import BrokenPartWarning, load
from colrun.store.paths import Paths
from tests.runs import bits, colrun, computed, real, resume, snapshot


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


@pytest.mark.filterwarnings("default::colrun.store.load.BrokenPartWarning")
def test_compaction_names_the_part_that_is_broken(paths: Paths) -> None:
    truncate(paths.parts()[0])
    name = paths.parts()[0].name
    for command in (["export", "tiny", "--csv"], ["merge", paths.sweep, "--out", paths.sweep.parent / "other"]):
        said = colrun(*command, *(["--results", paths.sweep.parent] if command[0] == "export" else []))
        assert name in said.output
        assert said.exit_code == 1, "not all that was asked for is there"
    said = colrun("compact", "tiny", "--results", paths.sweep.parent)
    assert name in said.output
    assert said.exit_code == 1
    assert len(bits(paths.sweep)) == 48
    assert computed(resume(paths)) == 6


def test_a_part_that_is_a_link_is_broken(paths: Paths, tmp_path: Path) -> None:
    victim = paths.parts()[0]
    victim.rename(tmp_path / "elsewhere")
    victim.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    with pytest.warns(BrokenPartWarning, match="is a symbolic link"):
        assert len(load(paths.sweep)) == 48
    said = colrun("status", "tiny", "--results", paths.sweep.parent)
    assert said.exit_code == 1
    assert "is a symbolic link" in said.stdout
    assert computed(resume(paths)) == 6
    assert (paths.broken / victim.name).is_symlink(), "the link was moved, and not what it points to"
    assert (tmp_path / "elsewhere").read_bytes() == before


def test_a_name_that_colrun_does_not_write_is_named_and_left_alone(paths: Paths) -> None:
    stray = paths.rows / "zzz.parquet"
    stray.symlink_to("nowhere")
    assert len(load(paths.sweep)) == 60
    said = colrun("status", "tiny", "--results", paths.sweep.parent)
    assert said.exit_code == 0
    assert "not colrun's, left alone: _generations/000001/zzz.parquet" in said.stdout
    assert computed(resume(paths)) == 0
    assert stray.is_symlink()


def without_power_over_files() -> None:
    """Root reads whatever its permissions; a process that this is called in does not."""
    library = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        library.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="drops capabilities of Linux")
def test_a_part_that_cannot_be_read_is_not_broken(paths: Paths) -> None:
    before = snapshot(paths.sweep)
    victim = paths.parts()[0]
    victim.chmod(0)
    sweep = str(paths.sweep.parents[1] / "sweep.toml")
    for command in (
        ["sweep", sweep, "-j", "1", "--out"],
        ["status", "tiny", "--results"],
        ["export", "tiny", "--csv", "--results"],
        ["compact", "tiny", "--results"],
    ):
        said = real(*command, paths.sweep.parent, preexec_fn=without_power_over_files)
        assert said.returncode == 1, said.stderr
        assert said.stderr.startswith("Error: cannot read ")
        assert said.stderr.endswith(f"{victim.name}: Permission denied.\n")
    victim.chmod(0o644)
    assert snapshot(paths.sweep) == before
