"""docs/your-own.md, followed as a newcomer would: every file written, every command run, every output looked for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import ROOT

PAGE = ROOT / "docs" / "your-own.md"
BLOCK = re.compile(r"^```(\w+)(?: (\w+)=(\S+))?\n(.*?)^```$", re.M | re.S)


def test_the_page(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "colrun"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m colrun "$@"\n')
    program.chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    said, ran = "", 0
    for kind, what, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if what == "file":
            (here / name).write_text(text, encoding="utf-8")
        elif kind == "text":
            for line in text.splitlines():
                assert line in said, line
        else:
            command = ["bash", "-e", "-c", text] if kind == "sh" else [sys.executable, "-c", text]
            done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
            said = done.stdout + done.stderr
            assert done.returncode == 0, text + said
            ran += 1
    assert ran == 7
    assert (here / "figures" / "mine.png").stat().st_size > 10_000


@pytest.mark.filterwarnings("ignore:.*has no fast form")
def test_the_newcomer_gets_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep refuses to mix rows of the two sources of `half`."""
    from colrun.estimators import ESTIMATORS
    from colrun.estimators.plugins import use_files
    from tests.runs import colrun, refused

    monkeypatch.chdir(tmp_path)
    for kind, what, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if what == "file":
            Path(name).write_text(text, encoding="utf-8")
        assert kind in ("toml", "sh", "text", "python")
    asked = ["--estimators", "half", "--seeds", "0:1", "--width", "5", "--lateral", "0%", "-j", 1]
    assert colrun("sweep", "mine.toml", "--plugin", "half.py", *asked).exit_code == 0
    assert "the source of that plug-in is another now" in refused("sweep", "mine.toml", "--plugin", "fast.py", *asked)
    use_files([], ESTIMATORS)
