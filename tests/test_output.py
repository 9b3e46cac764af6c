"""Files that a user asks for by name."""

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from colrun.errors import InvalidValueError
from colrun.output import console, writing
from tests.runs import ROOT, TINY, files, write


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


def test_no_other_file_is_touched_and_permissions_stay(tmp_path: Path) -> None:
    output = tmp_path / ("x" * 250 + ".txt")
    output.write_text("old")
    output.chmod(0o600)
    (tmp_path / "x.txt.tmp").write_text("precious")
    with writing(output) as file:
        file.write_text("new")
    assert output.read_text() == "new"
    assert output.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "x.txt.tmp").read_text() == "precious"
    with writing(output, mode=0o755) as file:
        file.write_text("newer")
    assert output.stat().st_mode & 0o777 == 0o755


def test_links_in_a_circle_are_said(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidValueError, match="cannot write"), writing(tmp_path / "loop") as file:
        file.write_text("x")
    assert (tmp_path / "loop").is_symlink()


def test_what_goes_to_standard_output_stands_between_what_others_say(tmp_path: Path) -> None:
    write(tmp_path, TINY)
    program = shlex.join([sys.executable, "-m", "colrun", "script", "parallel", "sweep.toml", "-o"])
    for name in ("/dev/stdout", "-"):
        line = f"(echo first; {program} {name}; echo last) > all.txt; echo $? && test ! -x all.txt"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, check=True)
        said = (tmp_path / "all.txt").read_text()
        assert said.startswith("first\n#!")
        assert said.endswith("last\n")
    assert files(tmp_path) == ["all.txt", "sweep.toml"]


@pytest.mark.parametrize("command", [["list"], ["script", "parallel", "sweep.toml"]], ids=lambda words: words[0])
def test_a_full_disk_behind_standard_output_is_said_once(tmp_path: Path, command: list[str]) -> None:
    write(tmp_path, TINY)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "colrun", *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "Error: cannot go on: No space left on device.\n")


def test_without_colours_there_are_no_bold_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with (bold := console()).capture() as shown:
        bold.print("[bold]x[/bold]")
    assert "\x1b" in shown.get()
    monkeypatch.setenv("NO_COLOR", "1")
    with (plain := console()).capture() as shown:
        plain.print("[bold]x[/bold]")
    assert shown.get() == "x\n"
