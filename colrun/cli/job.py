"""`colrun job`."""

import sys
from pathlib import Path
from typing import Any

import click

from colrun.cli.options import Finite, limit_options, replaced, replacing_options, results_option, sweep_argument
from colrun.errors import InvalidValueError
from colrun.run.script import BATCH_SECONDS
from colrun.sweep.file import Sweep


@click.command("job")
@sweep_argument
@click.argument("ids", nargs=-1, metavar="ID...")
@results_option
@click.option(
    "--again", is_flag=True, help="run even what is done or failed, and print the rows instead of storing them"
)
@click.option("--list", "listed", is_flag=True, help="run nothing: print what is missing, one batch of jobs per line")
@click.option(
    "--seconds",
    type=Finite(above=False),
    help=f"with --list: estimated work of a batch  [default: {BATCH_SECONDS:g}]",
)
@click.option(
    "--slots", type=click.IntRange(min=1), help="with --list: places that work at once; the last batches get smaller"
)
@click.option("--retry-failed", is_flag=True, help="with --list: failed jobs too")
@limit_options
@replacing_options
def command(
    sweep: str,
    ids: tuple[str, ...],
    results: Path,
    again: bool,
    listed: bool,
    job_timeout: float | None,
    job_memory: float | None,
    **options: Any,
) -> None:
    """Run single jobs of a sweep in this process: what generated scripts call.

    ID is a job (CONFIG.SEED), several seeds of one config (CONFIG.0:10) or all of one (CONFIG);
    several may stand in one argument with slashes between them, as --list prints them.

    \b
    Examples:
      colrun job rnn-alignment 40655913030cb658.17
      colrun job rnn-alignment 40655913030cb658.0:50 91be22d01f4a0c37
      colrun job rnn-alignment --list --seconds 600
    Exit codes: 0 done, 1 some jobs failed or the disk is full, 2 bad input, 128 + n stopped by signal n (130 SIGINT,
    143 SIGTERM, 138 SIGUSR1); what is done is then kept.
    """
    from colrun.store.known import stored_sweep

    values = replaced(options)
    if listed and (ids or again):
        raise InvalidValueError("--list runs nothing; give it neither an ID nor --again.")
    if not listed and any(options.values()):
        raise InvalidValueError("--seconds, --slots and --retry-failed are for --list; give that, or leave them out.")
    if not listed and not ids:
        raise InvalidValueError("no ID is given; `colrun job SWEEP --list` prints them.")
    chosen = stored_sweep(results, sweep, values)
    if listed:
        _print_list(chosen, results, **options)
        return
    from colrun.run.threads import one_thread

    one_thread()
    from colrun.run.apart import Limits, use_limits
    from colrun.run.jobs import print_again, run_jobs
    from colrun.store.paths import Paths

    paths = Paths.of(results, chosen.name)
    use_limits(Limits(job_timeout, job_memory))
    if again:
        print_again(chosen, ids)
        return
    outcome = run_jobs(chosen, paths, ids)
    click.echo(f"{chosen.name}: {outcome.jobs} job(s), {outcome.elsewhere} done before, {len(outcome.failed)} failed")
    if outcome.failed:
        sys.exit(1)


def _print_list(sweep: Sweep, results: Path, seconds: float | None, slots: int | None, retry_failed: bool) -> None:
    from colrun.run.batches import missing_batches
    from colrun.store.paths import Paths

    length = BATCH_SECONDS if seconds is None else seconds
    for batch in missing_batches(sweep, Paths.of(results, sweep.name), length, slots, retry_failed):
        click.echo(batch)
