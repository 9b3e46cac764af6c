"""`colrun status`."""

import sys
from pathlib import Path
from typing import Any

import click

from colrun.cli.options import SweepName, replaced, replacing_options, results_option
from colrun.errors import InvalidValueError, StoreError


@click.command("status")
@click.argument("sweeps", type=SweepName(), nargs=-1, metavar="[SWEEP]...")
@results_option
@click.option("--verify", is_flag=True, help="read every row and check it against its checksum")
@replacing_options
def command(sweeps: tuple[str, ...], results: Path, verify: bool, **options: Any) -> None:
    """Show what is done, failed, missing and diverged, and the time left.

    Without SWEEP, all sweeps that have results. Exit code 1 if jobs failed, a part is broken (--verify reads every
    row) or one of all sweeps cannot be described.

    \b
    Examples:
      colrun status
      colrun status rnn-alignment --verify
    """
    from colrun.store.known import stored_sweeps

    names = sweeps or tuple(stored_sweeps(results))
    if not names:
        click.echo(f"no results in {results}; start with: colrun sweep demo")
        return
    values = replaced(options)
    good = True
    for name in names:
        try:
            good &= _show(results, name, values, verify)
        except (InvalidValueError, StoreError) as error:
            if sweeps:
                raise
            click.echo(f"{name}: {error}")
            good = False
    if not good:
        sys.exit(1)


def _show(results: Path, name: str, values: dict[str, Any], verify: bool) -> bool:
    """One sweep; whether all is well."""
    from colrun.run.local import usable_cores
    from colrun.run.progress import spoken
    from colrun.run.sweep import count, shown_by
    from colrun.store import strays
    from colrun.store.bits import rows_by_bits
    from colrun.store.index import failures, read_done
    from colrun.store.known import stored_sweep
    from colrun.store.paths import Paths

    sweep = stored_sweep(results, name, values)
    paths = Paths.of(results, sweep.name)
    done = read_done(paths, verify)
    failed = failures(paths)
    where = count(sweep, done, failed)
    ratio = done.seconds / done.estimated if done.estimated > 1 else 1.0
    left = where.seconds * ratio / usable_cores()
    stale = done.stale(sweep.experiment)
    elsewhere = [] if values else [job for job in failed if job not in set(where.failed)]
    bad = [*where.failed, *elsewhere]
    line = f"{sweep.name}: {where.done:,} of {where.total:,} jobs done{where.results}, {len(bad)} failed"
    line += f", {where.missing:,} missing"
    line += f", {done.diverged:,} diverged; {done.rows:,} rows in {done.parts:,} part(s)"
    click.echo(line + (f"; about {spoken(left)} left on {usable_cores()} core(s)" if where.missing else ""))
    extra = done.count() - where.done
    if stale:
        versions = ", ".join(map(str, sorted(stale)))
        click.echo(f"  stale: rows of numerics version {versions}, current is {sweep.experiment.numerics}")
    for key, why in done.stale_estimators(sweep.keys).items():
        click.echo(f"  stale: rows of {key}, and {why}")
    if not stale and extra > 0 and where.missing == 0 and not where.failed:
        click.echo(f"  {extra:,} further job(s) in the folder are not in this sweep's grid")
    for job in bad:
        beside = "" if job in where.failed else " (of other options than the file's)"
        click.echo(f"  failed {job}{beside}: {' '.join(str(failed[job].get('error', '')).split())}")
    if bad:
        click.echo(f"  why: {shown_by(bad[0], results)}")
    for error in done.broken:
        click.echo(f"  broken {error}")
    if others := strays.named(paths):
        click.echo(f"  {others}")
    if verify and not done.broken:
        click.echo("  verified: every row is what was written")
    kinds = rows_by_bits(paths) if verify else {}
    for kind, rows in kinds.items() if len(kinds) > 1 else ():
        click.echo(f"  {rows:,} rows under {kind}")
    return not (bad or done.broken)
