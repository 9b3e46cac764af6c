"""`colrun show`."""

import re
import shlex
from pathlib import Path

import click
import pytest

from colrun.cli.show import command
from colrun.store.load import load
from tests.runs import ROOT, colrun, files, refused

pytestmark = pytest.mark.usefixtures("here")


def test_parameters_rows_and_a_command_that_works(here: Path) -> None:
    frame = load(here / "results" / "tiny")
    row = frame[(frame["lateral"] == 0.5) & (frame["seed"] == 3) & (frame["columns"] == 4)].iloc[0]
    result = colrun("show", row["job"])
    assert result.exit_code == 0
    for text in (
        f"job {row['job']} of sweep tiny",
        "  columns = 4",
        "  lateral = 0.5",
        "  step_size = none",
        "  seed = 3",
    ):
        assert text in result.stdout.splitlines()
    assert "master-user" in result.stdout
    again = re.search(r"^run again: (.*)$", result.stdout, re.M)
    assert again
    before = files(here)
    printed = colrun(*shlex.split(again[1])[1:]).stdout
    assert printed.startswith(f"job {row['job']}\n")
    assert f"{row['mae']:.6f}" in printed
    assert files(here) == before


def test_the_command_works_for_a_job_that_options_made(here: Path) -> None:
    options = ["--columns", 1, "--width", 3, "--step-size", "0.001", "--own-state", "false", "--name", "odd"]
    colrun("sweep", "sweep.toml", "-j", 1, "--seeds", 9, *options)
    (here / "sweep.toml").unlink()
    job = load(here / "results" / "odd")["job"].iloc[0]
    shown = colrun("show", job).stdout
    again = re.search(r"^run again: (.*)$", shown, re.M)
    assert again
    assert colrun(*shlex.split(again[1])[1:]).stdout.startswith(f"job {job}\n")


def test_a_beginning_is_enough(here: Path) -> None:
    job = load(here / "results" / "tiny")["job"].iloc[0]
    config, seed = job.split(".")
    assert f"job {job} of" in colrun("show", f"{config}.{seed}").stdout
    assert "is the beginning of several jobs" in refused("show", config[:4])


def test_unknown() -> None:
    assert refused("show", "zzz").startswith("Error: no job 'zzz' in results;")
    assert refused("show", "zbc", "--results", "no").startswith("Error: no job 'zbc' in no;")


@pytest.mark.parametrize("where", [[], ["--results", ROOT / "results" / "paper"]])
def test_the_examples_of_the_docs_are_jobs_of_the_kept_rows(where: list[object]) -> None:
    texts = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "colrun" / "cli" / "show.py"]
    ids = {found for path in texts for found in re.findall(r"colrun show ([0-9a-f]{16}\.[0-9]+)", path.read_text())}
    assert ids
    for job in ids:
        result = colrun("show", job, *where)
        assert result.exit_code == 0, result.output
        assert f"job {job} of sweep rnn-alignment" in result.stdout
        assert "alignment_first" not in result.stdout, "columns that hold nothing"
        again = re.search(r"^run again: colrun job rnn-alignment (.*)$", result.stdout, re.M)
        assert again
        short = shlex.split(again[1])
        short[short.index("--estimators") + 1] = "master-user"
        assert colrun("job", "rnn-alignment", *short).stdout.startswith(f"job {job}\n")


def test_completion_offers_ids(here: Path) -> None:
    job = str(load(here / "results" / "tiny")["job"].iloc[0])
    context = click.Context(command, info_name="show")
    (argument,) = [each for each in command.params if each.name == "job"]
    offered = [item.value for item in argument.shell_complete(context, job[:5])]
    assert job in offered


@pytest.mark.filterwarnings("ignore::colrun.store.load.BrokenPartWarning")
def test_a_job_in_a_part_that_is_broken_inside(here: Path) -> None:
    job = str(load(here / "results" / "tiny")["job"].iloc[0])
    for part in (here / "results" / "tiny" / "rows").glob("*.parquet"):
        content = bytearray(part.read_bytes())
        content[100:140] = bytes(40)
        part.write_bytes(content)
    assert refused("show", job).endswith("are in a part that is broken; run: colrun sweep tiny")
