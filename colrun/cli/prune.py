"""`colrun prune`."""

from pathlib import Path

import click

from colrun.cli.options import plugin_option, results_option, sweep_argument


@click.command("prune")
@sweep_argument
@results_option
@plugin_option
@click.option("-y", "--yes", is_flag=True, help="do not ask")
def command(sweep: str, results: Path, yes: bool) -> None:
    """Remove rows that are not of a sweep's present grid, such as those that an edit of its file left behind.

    The grid is that of the file as it stands, and what options of runs since its last change made of it. Kept results
    are not touched.

    \b
    Examples:
      colrun prune my-sweep
      colrun prune my-sweep.toml --yes
    Exit codes: 0 done, 1 declined, 2 bad input.
    """
    from colrun.store.known import stored_name
    from colrun.store.prune import others

    name = stored_name(results, sweep)
    found = others(results, name, sweep if sweep.endswith(".toml") else name)
    if not found.rows and not found.failed:
        click.echo(f"{name}: every row is of its present grid")
        return
    failed = f" and {len(found.failed):,} failures" if found.failed else ""
    if not yes:
        click.confirm(
            f"{name}: remove {found.rows:,} rows{failed} of {found.paths.sweep}? {found.stay:,} stay", abort=True
        )
    found.remove()
    click.echo(f"{name}: {found.rows:,} rows{failed} removed, {found.stay:,} stay")
