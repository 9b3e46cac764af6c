"""`colrun show`."""

import shlex
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from colrun.cli.options import plugin_option, results_option
from colrun.errors import InvalidValueError
from colrun.estimators import is_plugin

if TYPE_CHECKING:
    from colrun.store.find import Found

OFFERED = 50


class JobId(click.ParamType[str, str]):
    """The id of a job; completes those of results."""

    name = "job"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """A few: there may be a million."""
        from colrun.store.find import jobs_in
        from colrun.store.known import stored_sweeps

        results = ctx.params.get("results") or Path("results")
        every = (job for sweep in stored_sweeps(results) for job in jobs_in(results, sweep))
        return [CompletionItem(job) for job in islice((job for job in every if job.startswith(incomplete)), OFFERED)]


@click.command("show")
@click.argument("job", type=JobId())
@results_option
@plugin_option
def command(job: str, results: Path) -> None:
    """Show a job's parameters, its rows or traceback, and the command that runs it again.

    What is not in the results folder is looked for among the kept rows.

    JOB is as in the column `job`: config and seed, such as 40655913030cb658.17. A beginning is enough if it is unique.

    \b
    Example:
      colrun show 40655913030cb658.17
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
        kept = "" if entry.results == results else f" (kept results in {entry.results})"
        click.echo(f"job {entry.job} of sweep {entry.sweep}{kept}")
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
    command = ["colrun", "job", entry.sweep, entry.job, "--again"]
    command += ["--results", str(results)] if entry.results == results else []
    for name, value in entry.parameters.items():
        option = "seeds" if name == "seed" else name.replace("_", "-")
        command += [f"--{option}", "none" if value is None else str(value)]
    files = dict.fromkeys(entry.plugins.get(key, "FILE") for key in entry.estimators if is_plugin(key))
    for file in files:  # a package that is installed needs no option
        command += ["--plugin", file] if "/" in file or file == "FILE" else []
    names = [key.partition("@")[0] for key in entry.estimators]
    return command + (["--estimators", ",".join(names)] if names else [])
