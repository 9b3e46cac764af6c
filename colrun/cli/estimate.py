"""What `colrun sweep --dry-run` shows."""

import os
from pathlib import Path

import click

import colrun
from colrun.run.progress import spoken
from colrun.run.sweep import count
from colrun.store.index import failures, read_done
from colrun.store.paths import Paths
from colrun.sweep.file import Sweep
from colrun.sweep.machine import machine_factor
from colrun.sweep.shard import Shard

BYTES_PER_ROW = 50
"""Of the compressed Parquet parts."""


def compiled() -> bool:
    """Whether a process has compiled kernels before, and numba kept them beside their source, as it does if it can."""
    kept = Path(colrun.__file__).parent / "engine" / "__pycache__"
    return "NUMBA_CACHE_DIR" in os.environ or any(kept.glob("compare.compare-*.nbi"))


def show_plan(sweep: Sweep, paths: Paths, workers: int, shard: Shard | None) -> None:
    """Of a sweep or a shard: jobs, skipped levels with reasons, and what the missing ones cost."""
    done = read_done(paths)
    where = count(sweep, done, failures(paths), shard)
    factor = done.seconds / done.estimated if done.estimated > 1 else machine_factor()
    seconds = where.seconds * factor
    share = f" in shard {shard}" if shard else ""
    click.echo(f"{sweep.name}: {where.total:,} jobs, {where.rows:,} results{share} ({sweep.source})")
    for reason, times in where.skipped.items():
        click.echo(f"  skipped   {reason} ({times} point(s) of the grid)")
    for error in done.broken:
        click.echo(f"  broken    {error}: its jobs would run again")
    if done.stale(sweep.experiment):
        versions = ", ".join(map(str, sorted(done.versions)))
        click.echo(f"  stale     rows of numerics version {versions}; current is {sweep.experiment.numerics}")
    for key, why in done.stale_estimators(sweep.keys).items():
        click.echo(f"  stale     rows of {key}, and {why}")
    click.echo(f"  done      {where.done:,}")
    if where.failed:
        click.echo(f"  failed    {len(where.failed):,} (run again with --retry-failed)")
    click.echo(f"  to run    {where.missing:,}")
    click.echo(f"  work      {spoken(seconds)} of CPU time, {spoken(seconds / workers)} with -j {workers}")
    if where.missing and sweep.experiment.by_kernels and not compiled():
        click.echo("  compile   kernels, once after an install: about half a minute more for each worker")
    click.echo(f"  disk      {where.rows * BYTES_PER_ROW / 1e6:.1f} MB when complete, in {paths.sweep}")
