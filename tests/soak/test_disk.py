"""The disk is full or read-only: one sentence, nothing half-written counts as done, and the same command goes on."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.soak.program import Folder


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs to mount a tmpfs, which takes root: {done.stderr.strip() or done.returncode}")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Folder]:
    """A folder on a disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk))
    try:
        yield Folder(disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_full_disk_stops_the_sweep_and_freeing_it_goes_on(small: Folder, truth: pd.DataFrame, workers: str) -> None:
    filler = small.path / "filler"
    filler.write_bytes(bytes(850_000))
    code, said = small.run("sweep", "soak.toml", "-j", workers)
    assert code == 1, said
    _one_sentence(said)
    assert "No space left on device. Free some space, then run the same command again: what is done is kept." in said
    small.within(truth)
    assert len(small.rows()) < len(truth)
    assert not list((small.results / "_failed").iterdir()), "a full disk is not the failure of a job"
    code, said = small.run("sweep", "soak.toml", "-j", workers)
    assert code == 1, said
    _one_sentence(said)
    filler.unlink()
    mount("-o", "remount,size=64m", str(small.path))
    small.sweep("-j", workers)
    small.same_as(truth)


def test_a_full_disk_stops_a_compaction(small: Folder, truth: pd.DataFrame) -> None:
    mount("-o", "remount,size=64m", str(small.path))
    small.sweep("-j", "2")
    filler = small.path / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(bytes(64 * 2**20))
    code, said = small.run("compact", "soak.toml")
    assert code == 1, said
    _one_sentence(said)
    filler.unlink()
    small.same_as(truth)
    code, said = small.run("compact", "soak.toml")
    assert code == 0, said
    assert len(small.parts()) == 1
    small.same_as(truth)


def test_a_read_only_folder_is_refused_before_any_work(small: Folder) -> None:
    small.sweep("-j", "1", "--seeds", "0:2", "--columns", "3", "--width", "2")
    before = small.rows()
    mount("-o", "remount,ro", str(small.path))
    code, said = small.run("sweep", "soak.toml", "-j", "2")
    assert code == 1, said
    _one_sentence(said)
    assert "Read-only file system" in said
    assert len(small.rows()) == len(before)
    elsewhere, said = small.run("sweep", "soak.toml", "--out", "new")
    assert elsewhere == 1, said
    _one_sentence(said)
    code, said = small.run("status", "soak.toml", "--verify")
    assert code == 0, f"reading needs no writing: {said}"


def _one_sentence(said: str) -> None:
    errors = [line for line in said.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1, said
    assert "Traceback" not in said
    assert "cannot write below" in errors[0]
