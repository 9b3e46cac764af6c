"""`colrun claims`."""

import json
from pathlib import Path

import click

from colrun.cli.options import results_option
from colrun.errors import InvalidValueError, shown
from colrun.output import console


@click.command("claims")
@results_option
@click.option(
    "--estimator",
    "names",
    multiple=True,
    metavar="NAME",
    help="ask the claims on Master-User of this estimator instead; may be given several times",
)
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(results: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Judge the paper's claims by stored results, each with the numbers and standard errors behind it.

    What was not run is taken from the kept rows in results/paper, network by network and estimator by estimator. In a
    pipe, one line per claim and reading with tabs in it. The exit code is 0 whatever the verdicts.

    Where a claim is on Master-User and there are rows of a plug-in in its sweep, the same test is asked of the plug-in
    too, after the paper's claims: it holds or does not hold. `--estimator` asks any estimator, and no other.

    \b
    Examples:
      colrun claims
      colrun claims --json > claims.json
      colrun claims | cut -f1-3
      colrun sweep rnn-alignment --estimators master-user,tbptt-40,snap-1
      colrun claims --estimator snap-1
    """
    from colrun.claims.judge import estimators, judge, judge_plugins, sources
    from colrun.claims.show import lines, show

    used = sources(results)
    frames = {sweep: rows.load() for sweep, rows in used.items()}
    if names:
        there = {str(name): name for name in sorted(estimators(frames), key=str)}
        for name in names:
            if name not in there:
                raise InvalidValueError(
                    f"the sweeps of the claims hold no rows of {shown(name)}; they hold rows of {', '.join(there)}."
                )
        claims, others = [], [found for name in names for found in judge(frames, there[name])]
    else:
        claims, others = list(judge(frames)), list(judge_plugins(frames))
    terminal = console()
    if as_json:
        where = {
            sweep: {"folder": str(rows.folder), "kept": rows.local is None, "rows": rows.counts}
            for sweep, rows in used.items()
        }
        found = {"sources": where, "claims": [one.as_dict() for one in claims]}
        click.echo(json.dumps(found | {"others": [one.as_dict() for one in others]}, indent=1))
        return
    for judged in filter(None, (claims, others)):
        if terminal.is_terminal:
            show(judged, terminal)
        else:
            for line in lines(judged):
                click.echo(line)
    for rows in used.values():
        click.echo(str(rows), err=True)
    if not used:
        click.echo(f"no results in {results} and none kept; start with: colrun sweep rnn-alignment", err=True)
