"""`colrun show`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from colrun.cli.options import results_option
from colrun.errors import InvalidValueError
from colrun.estimators import is_plugin

if TYPE_CHECKING:
    from colrun.store.find import Found


@click.command("show")
@click.argument("job")
@results_option
def command(job: str, results: Path) -> None:
    """Show a job's parameters, its rows or traceback, and the command that runs it again.

    JOB is as in the column `job`: config and seed, such as 3f0c5e0a9d2b1c44.17. A beginning is enough if it is unique.

    \b
    Example:
      colrun show 3f0c5e0a9d2b1c44.17
    """
    from colrun.store.find import find_job

    found = find_job(results, job)
    if not found:
        raise InvalidValueError(
            f"no job {job!r} in {results}; the column `job` of the rows, or `colrun status`, has ids."
        )
    if len({entry.job for entry in found}) > 1:
        names = ", ".join(sorted({entry.job for entry in found})[:5])
        raise InvalidValueError(f"{job!r} is the beginning of several jobs ({names}, …); give more of it.")
    for entry in found:
        click.echo(f"job {entry.job} of sweep {entry.sweep}")
        for name, value in entry.parameters.items():
            click.echo(f"  {name} = {'none' if value is None else value}")
        click.echo(f"run again: {shlex.join(_again(entry, results))}")
        if entry.failure:
            click.echo("failed:")
            click.echo(entry.failure)
        if entry.rows:
            click.echo(entry.rows)


def _again(entry: "Found", results: Path) -> list[str]:
    """The command that computes a job again: with every parameter, since its run may have replaced the file's."""
    command = ["colrun", "job", entry.sweep, entry.job, "--results", str(results), "--again"]
    for name, value in entry.parameters.items():
        option = "seeds" if name == "seed" else name.replace("_", "-")
        command += [f"--{option}", "none" if value is None else str(value)]
    if any(is_plugin(key) for key in entry.estimators):
        command += ["--plugin", "FILE"]  # rows know a plug-in's hash, not where it was
    names = [key.partition("@")[0] for key in entry.estimators]
    return command + (["--estimators", ",".join(names)] if names else [])
