"""`colrun sweep`."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colrun.cli.options import limit_options, read_all, replaced, replacing_options, sweeps_argument
from colrun.errors import InvalidValueError
from colrun.sweep.file import Sweep
from colrun.sweep.shard import Shard

if TYPE_CHECKING:
    from colrun.run.pool import Pool
    from colrun.store.paths import Paths

BACKENDS = ("joblib", "dask")


@click.command("sweep")
@sweeps_argument
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="workers  [default: all usable cores]")
@click.option(
    "--results",
    "--out",
    "out",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="folder of results",
)
@click.option("--backend", type=click.Choice(BACKENDS), default=BACKENDS[0], show_default=True, help="who runs workers")
@click.option("--scheduler", metavar="ADDRESS", help="of a Dask scheduler, such as tcp://192.168.1.5:8786")
@click.option("--shard", metavar="I/N", help="run only this share, such as 1/2 on one machine and 2/2 on another")
@click.option("--dry-run", is_flag=True, help="show what would run, and what it would cost")
@click.option("--retry-failed", is_flag=True, help="run failed jobs again")
@click.option("--fail-fast", is_flag=True, help="stop at the first failed job")
@click.option("--recompute-stale", is_flag=True, help="set rows of older numerics aside and compute them again")
@limit_options
@click.option("-q", "--quiet", is_flag=True, help="errors only")
@click.option("-v", "--verbose", is_flag=True, help="a line per unit of work")
@replacing_options
def command(
    sweeps: tuple[str, ...],
    jobs: int | None,
    out: Path,
    backend: str,
    scheduler: str | None,
    shard: str | None,
    dry_run: bool,
    **options: Any,
) -> None:
    """Run what is missing of one or more sweeps, and write Parquet below the results folder.

    SWEEP is a TOML file or the name of one in sweeps/. Values of the file can be replaced by options. A sweep that
    was interrupted goes on where it was when the same command is run again.

    \b
    Examples:
      colrun sweep demo
      colrun sweep rnn-alignment -j 4 --seeds 0:10
      colrun sweep my-sweep.toml --columns 5,10 --lateral 0%,10%,dense --dry-run
      colrun sweep rnn-grid --shard 1/2
      colrun sweep rnn-grid --backend dask --scheduler tcp://192.168.1.5:8786
    Exit codes: 0 done, 1 some jobs failed or the disk is full, 2 bad input, 130 interrupted, 143 terminated.
    """
    chosen = read_all(sweeps, replaced(options))
    options["shard"] = Shard.parse(shard) if shard is not None else None
    check_backend(backend, scheduler, jobs)
    if options["quiet"] and options["verbose"]:
        raise InvalidValueError("--quiet and --verbose exclude each other; give one.")
    failed = _run(chosen, jobs, out, (backend, scheduler), dry_run, options)
    if failed:
        where = "" if out == Path("results") else f" --results {shlex.quote(str(out))}"
        click.echo(
            f"{failed} job(s) failed; `colrun status {' '.join(sweep.name for sweep in chosen)}{where}` names them, "
            "--retry-failed runs them again.",
            err=True,
        )
        sys.exit(1)


def check_backend(backend: str, scheduler: str | None, jobs: int | None) -> None:
    """Refuse what does not go together, before anything starts."""
    if backend != "dask":
        if scheduler is not None:
            raise InvalidValueError("--scheduler is for --backend dask; give both, or neither.")
        return
    from colrun.run.dask_address import check_address, check_extra

    check_extra()
    if scheduler is not None:
        check_address(scheduler)
        if jobs is not None:
            raise InvalidValueError("-j is not for --scheduler, whose workers are started elsewhere; leave it out.")


def _pool(backend: str, scheduler: str | None, workers: int) -> "Pool":
    if backend == "dask":
        from colrun.run.dask import Dask

        return Dask(scheduler, workers)
    from colrun.run.local import Local

    return Local(workers)


def _run(
    chosen: list[Sweep],
    jobs: int | None,
    out: Path,
    backend: tuple[str, str | None],
    dry_run: bool,
    options: dict[str, Any],
) -> int:
    """Run them one after another; returns the number of failed jobs. Heavy imports only here: mistakes come first."""
    from colrun.run.local import usable_cores
    from colrun.run.pool import BackendError
    from colrun.run.sweep import warn_about_cores
    from colrun.store.paths import Paths

    workers = jobs or usable_cores()
    if not options["quiet"]:
        warn_about_cores(workers)
    if dry_run:
        from colrun.cli.estimate import show_plan

        for sweep in chosen:
            show_plan(sweep, Paths.of(out, sweep.name), workers, options["shard"])
        return 0
    pool = None
    try:
        pool = _pool(*backend, workers)
        return sum(_run_one(sweep, Paths.of(out, sweep.name), pool, options) for sweep in chosen)
    except BackendError as error:
        raise click.ClickException(str(error)) from None
    finally:
        if pool is not None:
            pool.close()


def _run_one(sweep: Sweep, paths: "Paths", pool: "Pool", options: dict[str, Any]) -> int:
    from colrun.run.apart import Limits
    from colrun.run.sweep import Options, run_sweep

    limits = Limits(options["job_timeout"], options["job_memory"])
    rest = {name: value for name, value in options.items() if name not in ("job_timeout", "job_memory")}
    result = run_sweep(sweep, paths, pool, Options(**rest, limits=limits))
    if not options["quiet"]:
        parts = [f"{result.count.total} jobs", f"{result.count.done} done before", f"{result.computed} computed"]
        parts += [f"{len(result.failed)} failed"] if result.failed else []
        parts += [f"{result.diverged} diverged"] if result.diverged else []
        share = f" (shard {options['shard']})" if options["shard"] else ""
        click.echo(f"{sweep.name}{share}: {', '.join(parts)} → {paths.sweep}")
    return len(result.failed)
