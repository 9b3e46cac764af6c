"""`colrun job`."""

import sys
from pathlib import Path
from typing import Any

import click

from colrun.cli.options import replaced, replacing_options, results_option, sweep_argument


@click.command("job")
@sweep_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@results_option
@click.option(
    "--again", is_flag=True, help="run even what is done or failed, and print the rows instead of storing them"
)
@replacing_options
def command(sweep: str, ids: tuple[str, ...], results: Path, again: bool, **options: Any) -> None:
    """Run single jobs of a sweep in this process: what generated scripts call.

    ID is a job (CONFIG.SEED), several seeds of one config (CONFIG.0:10) or all of one (CONFIG);
    several may stand in one argument with slashes between them.

    \b
    Examples:
      colrun job rnn-alignment 3f0c5e0a9d2b1c44.17
      colrun job rnn-alignment 3f0c5e0a9d2b1c44.0:50 91be22d01f4a0c37
    """
    from colrun.store.known import stored_sweep

    chosen = stored_sweep(results, sweep, replaced(options))
    from colrun.run.worker import one_thread

    one_thread()
    from colrun.run.jobs import print_again, run_jobs
    from colrun.store.paths import Paths, StoreError

    paths = Paths.of(results, chosen.name)
    try:
        if again:
            print_again(chosen, ids)
            return
        outcome = run_jobs(chosen, paths, ids)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{chosen.name}: {outcome.jobs} job(s), {outcome.elsewhere} done before, {len(outcome.failed)} failed")
    if outcome.failed:
        sys.exit(1)
