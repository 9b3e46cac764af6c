"""Files that a user asks for by name."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from colrun.errors import InvalidValueError
from colrun.output import writing
from tests.runs import files


def test_a_file_is_replaced_at_the_end(tmp_path: Path) -> None:
    output = tmp_path / "x.txt"
    output.write_text("old")
    with writing(output) as file:
        file.write_text("new")
        assert output.read_text() == "old"
    assert output.read_text() == "new"
    assert files(tmp_path) == ["x.txt"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ZeroDivisionError])
def test_after_a_failure_what_was_there_stays(tmp_path: Path, failure: type[BaseException]) -> None:
    def fail(file: Path) -> None:
        file.write_text("ne")
        raise failure

    output = tmp_path / "x.txt"
    output.write_text("old")
    with pytest.raises(failure), writing(output) as file:
        fail(file)
    assert output.read_text() == "old"
    assert files(tmp_path) == ["x.txt"]


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    output = tmp_path / "x.txt"
    with pytest.raises(InvalidValueError, match=r"cannot write .*x\.txt: No space left on device\."), writing(output):
        Path("/dev/full").write_text("x")
    assert not output.exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "x.txt")
    with writing(tmp_path / "link.txt") as file:
        file.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "x.txt").read_text() == "new"
    assert files(tmp_path) == ["link.txt", "real", "real/x.txt"]


def test_devices_are_written_to_as_they_are(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(fifo.read_text)
        with writing(fifo) as file:
            file.write_text("x")
        assert read.result(60) == "x"
    assert fifo.is_fifo()
    assert files(tmp_path) == ["pipe"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"it is a folder; give the name of a file\."), writing(tmp_path):
        pass
