"""A file or folder that colrun has not written costs no row, whatever its name, and stays where it is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from colrun.errors import StoreError
from colrun.store.compact import compact
from colrun.store.generations import tidy
from colrun.store.paths import Paths
from tests.runs import bits, colrun, computed, resume

NAMES = ["2", "20261116", "٠٠٠٠٠٢", "²", "0000002", "000002.bak", "-1", "00000 2", "000002\n"]


def as_file(path: Path) -> None:
    path.touch()


def as_folder(path: Path) -> None:
    path.mkdir()


def as_link(path: Path) -> None:
    path.symlink_to(path.parent / "000001")


@pytest.mark.parametrize("kind", [as_file, as_folder, as_link])
@pytest.mark.parametrize("name", NAMES)
def test_a_stray_beside_the_generations(paths: Paths, name: str, kind: Callable[[Path], None]) -> None:
    before = bits(paths.sweep)
    kind(paths.generations / name)
    tidy(paths)
    assert compact(paths) == (5, 1, [])
    assert bits(paths.sweep) == before
    assert os.path.lexists(paths.generations / name)
    assert paths.generation_names() == ["000002"]


@pytest.mark.parametrize("kind", [as_file, as_folder, as_link])
@pytest.mark.parametrize("name", ["000002", "000007", "999999", "000000"])
def test_a_stray_that_is_named_as_a_generation(paths: Paths, name: str, kind: Callable[[Path], None]) -> None:
    """It is in nobody's succession: rows stay those of the one that `rows` names."""
    before = bits(paths.sweep)
    stray = paths.generations / name
    kind(stray)
    if name == "000002":
        with pytest.raises(StoreError, match="is in the place of the next generation; move it away"):
            compact(paths)
    else:
        compact(paths)
    assert bits(paths.sweep) == before
    tidy(paths)
    assert bits(paths.sweep) == before
    assert os.path.lexists(stray)
    said = colrun("status", "tiny", "--results", paths.sweep.parent)
    assert f"left alone: _generations/{name}" in said.stdout


def test_an_older_generation_that_is_no_predecessor_is_kept(paths: Paths) -> None:
    compact(paths)
    older = paths.generations / "000001"
    older.mkdir()
    (older / "thesis.tex").write_text("years of work")
    tidy(paths)
    assert (older / "thesis.tex").read_text() == "years of work"


def test_a_generation_whose_successor_is_damaged_is_kept(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colrun.store.generations.discard", lambda *_: None)
    before = bits(paths.sweep)
    compact(paths)
    monkeypatch.undo()
    (part,) = paths.parts()
    whole = part.read_bytes()
    part.write_bytes(whole[:50] + bytes([whole[50] ^ 1]) + whole[51:])
    tidy(paths)
    assert paths.generation_names() == ["000001", "000002"]
    part.write_bytes(whole)
    tidy(paths)
    assert paths.generation_names() == ["000002"]
    assert bits(paths.sweep) == before


def test_a_file_in_the_temporary_folder_is_kept(paths: Paths) -> None:
    mine = paths.temporary / "notes.txt"
    mine.write_text("mine")
    os.utime(mine, (0, 0))
    tidy(paths)
    assert mine.read_text() == "mine"


def test_the_command_leaves_it_alone_and_says_so(paths: Paths) -> None:
    before = bits(paths.sweep)
    (paths.generations / "2").touch()
    said = colrun("compact", "tiny", "--results", paths.sweep.parent)
    assert said.exit_code == 0
    assert "not colrun's, left alone: _generations/2" in said.stderr
    assert bits(paths.sweep) == before
    assert computed(resume(paths)) == 0
