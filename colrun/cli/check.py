"""`colrun check`."""

import sys

import click

from colrun.cli.options import plugin_option
from colrun.errors import InvalidValueError


@click.command("check")
@plugin_option
def command() -> None:
    """Check estimators of your own: do their forms agree, on which cells and readings, and how fast are they?

    \b
    Example:
      colrun check --plugin my_estimator.py
    Exit codes: 0 all is well, 1 forms differ or raise, 2 bad input.
    """
    from colrun.estimators.plugins import API, given

    plugins = given()
    if not plugins:
        raise InvalidValueError("say what to check: --plugin FILE.")
    from colrun.run.threads import one_thread

    one_thread()
    from colrun.checks import check

    bad = False
    for plugin in plugins:
        click.echo(f"{plugin.key}: {plugin.summary}")
        if plugin.api is None:
            click.echo(f"  states no API version; the next version of colrun may need another: write API = {API}")
        for finding in check(plugin.name, plugin.windowed):
            click.echo(f"  {finding.text}")
            bad |= finding.bad
    if bad:
        sys.exit(1)
