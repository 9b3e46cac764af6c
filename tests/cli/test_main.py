"""What all commands share: help, completion, start-up, and that no input ends in a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from colrun.cli import COMMANDS
from tests.runs import ROOT, TINY, colrun, files, real, write


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    for flag in ("-h", "--help"):
        result = colrun(command, flag)
        assert result.exit_code == 0
        assert f"Usage: main {command}" in result.stdout
        assert f"\n    colrun {command}" in result.stdout


def test_help_names_every_command() -> None:
    result = colrun("--help")
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout
    assert colrun("--version").stdout.startswith("colrun, version 0.")


def complete(*words: str, folder: Path = ROOT) -> list[str]:
    """What bash is offered for the last word, by the protocol that its completion function speaks."""
    environment = {
        "_COLRUN_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = real(env=environment, cwd=folder)
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_bash_completion(tmp_path: Path) -> None:
    assert complete("colrun", "s") == ["sweep", "status", "show", "script"]
    assert complete("colrun", "sweep", "rnn-") == ["rnn-alignment", "rnn-grid"]
    assert "--retry-failed" in complete("colrun", "sweep", "demo", "--re")
    assert complete("colrun", "sweep", "demo", "--cell", "g") == ["gru"]
    assert complete("colrun", "sweep", "demo", "--cell", "gru,m") == ["gru,mgu"]
    assert complete("colrun", "sweep", "demo", "--estimators", "rtrl,master-user-n") == ["rtrl,master-user-no-meta"]
    assert complete("colrun", "sweep", "demo", "--estimators", "bptt,tbptt-b") == [
        f"bptt,tbptt-block-{window}" for window in (1, 3, 5, 10, 20, 40)
    ]
    assert complete("colrun", "plot", "de") == ["demo"]
    assert complete("colrun", "list", "es") == ["estimators"]
    (tmp_path / "sweeps").mkdir()
    write(tmp_path / "sweeps", TINY, file="mine.toml")
    assert complete("colrun", "status", "mi", folder=tmp_path) == ["mine"]
    (tmp_path / "results" / "mixed" / "_runs").mkdir(parents=True)
    assert complete("colrun", "status", "mi", folder=tmp_path) == ["mine", "mixed"]
    assert complete("colrun", "sweep", "mi", folder=tmp_path) == ["mine"], "of which there is a file"


def test_bash_itself_completes(tmp_path: Path) -> None:
    (tmp_path / "colrun").write_text(f'#!/bin/sh\nexec {sys.executable} -m colrun "$@"\n')
    (tmp_path / "colrun").chmod(0o755)
    script = """
eval "$(_COLRUN_COMPLETE=bash_source colrun)"
COMP_WORDS=(colrun sweep meta-); COMP_CWORD=2
_colrun_completion colrun meta- sweep
printf '%s\\n' "${COMPREPLY[@]}"
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["meta-ablation", "meta-alignment", "meta-grid"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_for_other_shells(shell: str) -> None:
    assert "colrun" in real(env={"_COLRUN_COMPLETE": f"{shell}_source"}).stdout


def test_what_needs_no_torch_imports_none(tmp_path: Path) -> None:
    bad = write(tmp_path, {**TINY, "columns": 0})
    code = f"""
import os, sys
from click.testing import CliRunner
from colrun.cli import COMMANDS, main
calls = [(["list"], 0), (["--help"], 0), *(([command, "--help"], 0) for command in COMMANDS)]
calls += [(["sweep", {str(bad)!r}], 2), (["sweep", "gone"], 2), (["job", "gone", "x"], 2), (["plot", "x"], 2)]
for arguments, wanted in calls:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == wanted, (arguments, result.output)
    heavy = {{"torch", "pandas", "seaborn", "matplotlib", "pyarrow"}} & set(sys.modules)
    assert not heavy, (arguments, heavy)
os.environ |= {{"_COLRUN_COMPLETE": "bash_complete", "COMP_WORDS": "colrun sweep rn", "COMP_CWORD": "2"}}
result = CliRunner().invoke(main, [], prog_name="colrun")
assert "rnn-grid" in result.output
assert "torch" not in sys.modules
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    assert files(tmp_path) == ["sweep.toml"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "demo", "--dry-run", "--out"],
        ["status", "demo", "--results"],
        ["plot", "demo", "--results"],
        ["show", "abc", "--results"],
        ["export", "demo", "--csv", "--results"],
        ["compact", "demo", "--results"],
        ["sweep"],
        ["export"],
    ],
)
def test_a_path_longer_than_the_system_allows(arguments: list[str]) -> None:
    result = colrun(*arguments, "x" * 5000)
    assert result.exit_code == 2
    assert len(result.stderr) < 600


def test_a_file_name_that_is_not_unicode(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.toml")
    write(tmp_path, {**TINY, "columns": 0}, file=name)
    done = real("sweep", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "columns is 0" in done.stderr
    assert "Traceback" not in done.stderr
