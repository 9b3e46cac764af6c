"""`colrun claims`."""

import json
from pathlib import Path

import click

from colrun.cli.options import results_option


@click.command("claims")
@results_option
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(results: Path, as_json: bool) -> None:
    """Judge the paper's claims by stored results, each with the numbers and standard errors behind it.

    A sweep without rows in the results folder is judged by the kept ones in results/paper. In a pipe, one line per
    claim and reading with tabs in it. The exit code is 0 whatever the verdicts.

    \b
    Examples:
      colrun claims
      colrun claims --json > claims.json
      colrun claims | cut -f1-3
    """
    from rich.console import Console

    from colrun.claims.judge import judge, sources
    from colrun.claims.show import lines, show

    used = sources(results)
    judged = list(judge({sweep: rows.load() for sweep, rows in used.items()}))
    console = Console()
    if as_json:
        where = {sweep: {"folder": str(rows.folder), "kept": rows.kept} for sweep, rows in used.items()}
        click.echo(json.dumps({"sources": where, "claims": [found.as_dict() for found in judged]}, indent=1))
        return
    if console.is_terminal:
        show(judged, console)
    else:
        for line in lines(judged):
            click.echo(line)
    for rows in used.values():
        click.echo(str(rows), err=True)
    if not used:
        click.echo(f"no results in {results} and none kept; start with: colrun sweep rnn-alignment", err=True)
