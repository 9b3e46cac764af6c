"""`colrun script`. tests/cluster runs what it prints through the real engines."""

import os
import re
import stat
from pathlib import Path

import pytest

from tests.runs import DECAY, TINY, colrun, files, write


@pytest.mark.parametrize("engine", ["parallel", "slurm"])
def test_it_writes_an_executable_file(tmp_path: Path, engine: str) -> None:
    path = write(tmp_path, TINY)
    result = colrun("script", engine, path, "--seeds", "0:3", "-o", tmp_path / "run.sh")
    assert result.exit_code == 0
    assert result.output == ""
    assert (tmp_path / "run.sh").stat().st_mode & stat.S_IXUSR
    assert (tmp_path / "run.sh").read_text() == colrun("script", engine, path, "--seeds", "0:3").stdout


@pytest.mark.parametrize("engine", ["parallel", "slurm"])
def test_it_is_short_and_holds_nothing_of_this_machine(engine: str) -> None:
    text = colrun("script", engine, "rnn-grid").stdout
    assert (
        f"# Runs the sweep rnn-grid {'with GNU Parallel' if engine == 'parallel' else 'as a Slurm job array'}" in text
    )
    assert f"Made by: colrun script {engine} rnn-grid\n" in text
    assert "sweep=(--results results -- rnn-grid)\n" in text
    assert str(Path.home()) not in text
    assert os.getcwd() not in text
    assert not re.search("@[A-Z]+@", text), "every place is filled"
    assert len(text) < 8000


def test_options_of_parallel(tmp_path: Path) -> None:
    path = write(tmp_path, TINY, file="it's.toml")
    options = ["--jobs", "50%", "--hosts", "my hosts", "--batch-seconds", "7.5", "--columns", "3,4"]
    text = colrun("script", "parallel", path, *options).stdout
    assert "\nJOBS=${JOBS:-50%}\nBATCH=${BATCH:-7.5}\nhosts='my hosts'\n" in text
    assert "--columns 3,4 -- " in text


def test_options_of_slurm(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    options = "--task-minutes 30 --memory 4G --account stats --partition short --max-running 7 --sbatch --qos=long"
    text = colrun("script", "slurm", path, *options.split(), "--setup", "module load python").stdout
    lines = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert text.splitlines()[1 : len(lines) + 1] == lines, "sbatch reads no further than the first command"
    for line in ("--mem=4G", "--account=stats", "--partition=short", "--qos=long", "--requeue", "--signal=B:USR1@120"):
        assert f"#SBATCH {line}" in lines
    assert "\nmodule load python\n" in text
    assert "--list --seconds 1800 " in text
    assert "running=%7 " in text


@pytest.mark.parametrize(
    ("options", "time"),
    [
        (["--seeds", "0:100000"], "00:28:00"),  # 10 min of work and a unit, twice, and 7 min to start and to end
        (["--seeds", "0:100000", "--task-minutes", "120"], "04:08:00"),
        (["--seeds", "0:1"], None),
        (["--time", "2-00:00:00"], "2-00:00:00"),
    ],
)
def test_time_is_that_of_the_longest_task(options: list[str], time: str | None) -> None:
    found = re.search("#SBATCH --time=(.*)", colrun("script", "slurm", "rnn-grid", *options).stdout)
    assert found
    if time is None:
        assert "00:07:00" < found[1] < "00:28:00", "the whole sweep is less than a task"
    else:
        assert found[1] == time


def test_bad_input(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    cases: list[tuple[list[object], str]] = [
        (["slurmm", path], "No such command 'slurmm'"),
        (["parallel", "gone"], "sweep 'gone' is not known"),
        (["parallel", path, "--columns", "0", "-o", tmp_path / "x.sh"], "columns is '0'; it must be"),
        (["parallel", path, "-o", tmp_path / "no" / "x.sh"], "No such file or directory"),
        (["parallel", path, "-o", tmp_path], "it is a folder; give the name of a file"),
        (["parallel", path, "--jobs", "$(reboot)"], "--jobs is '$(reboot)'; it must be a number"),
        (["slurm", path, "--account", "a\n#SBATCH --x"], "--account is"),
        (["slurm", path, "--memory", "a b"], "--memory is 'a b'; it must be one word"),
        (["slurm", path, "--sbatch", "qos=long"], "--sbatch is 'qos=long'; it must be an option of sbatch"),
        (["slurm", path, "--sbatch", "--qos=long\nreboot"], "it must be an option of sbatch"),
        (["slurm", path, "--max-running", "0"], "0 is not in the range"),
    ]
    for arguments, message in cases:
        result = colrun("script", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert files(tmp_path) == ["sweep.toml"]


def test_a_sweep_without_estimators(tmp_path: Path) -> None:
    assert "#SBATCH --time=00:08:00" in colrun("script", "slurm", write(tmp_path, DECAY)).stdout


@pytest.mark.parametrize("option", ["--batch-seconds", "--task-minutes"])
def test_nan_is_no_time(option: str) -> None:
    engine = "parallel" if option == "--batch-seconds" else "slurm"
    said = colrun("script", engine, "demo", option, "nan")
    assert said.exit_code == 2
    assert "is not a finite number" in said.stderr


def test_a_results_folder_that_begins_with_a_plus_is_a_folder() -> None:
    """GNU Parallel takes a log whose name begins with + for one to append to."""
    assert "./+x" in colrun("script", "parallel", "demo", "--results", "+x").stdout
