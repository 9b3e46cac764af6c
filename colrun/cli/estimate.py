"""What `colrun sweep --dry-run` shows."""

from collections.abc import Iterator

import click

from colrun.experiments.axes import Value
from colrun.run.progress import compiled, spoken
from colrun.run.sweep import count
from colrun.store.index import failures, read_done
from colrun.store.paths import Paths
from colrun.sweep.file import Sweep
from colrun.sweep.machine import machine_factor
from colrun.sweep.shard import Shard

BYTES_PER_ROW = 50
"""Of the compressed Parquet parts."""


def show_plan(sweep: Sweep, paths: Paths, workers: int, shard: Shard | None) -> None:
    """Of a sweep or a shard: jobs, skipped levels with reasons, and what the missing ones cost."""
    done = read_done(paths)
    where = count(sweep, done, failures(paths), shard)
    factor = done.seconds / done.estimated if done.estimated > 1 else machine_factor()
    seconds = where.seconds * factor
    share = f" in shard {shard}" if shard else ""
    click.echo(f"{sweep.name}: {where.total:,} jobs, {where.rows:,} results{share} ({sweep.source})")
    for line in _axes(sweep):
        click.echo(f"  {line}")
    for reason, times in where.skipped.items():
        click.echo(f"  skipped   {reason} ({times} point(s) of the grid)")
    for error in done.broken:
        click.echo(f"  broken    {error}: its jobs would run again")
    if done.stale(sweep.experiment):
        versions = ", ".join(map(str, sorted(done.versions)))
        click.echo(f"  stale     rows of numerics version {versions}; current is {sweep.experiment.numerics}")
    for key, why in done.stale_estimators(sweep.keys).items():
        click.echo(f"  stale     rows of {key}, and {why}")
    click.echo(f"  done      {where.done:,}{where.results}")
    if where.failed:
        click.echo(f"  failed    {len(where.failed):,} (run again with --retry-failed)")
    left = f", {where.rows_left:,} results of them" if where.results else ""
    click.echo(f"  to run    {where.missing:,}{left}")
    click.echo(f"  work      {spoken(seconds)} of CPU time, {spoken(seconds / workers)} with -j {workers}")
    if where.missing and sweep.experiment.by_kernels and not compiled():
        click.echo("  compile   kernels, once after an install: about half a minute more for each worker")
    click.echo(f"  disk      {where.rows * BYTES_PER_ROW / 1e6:.1f} MB when complete, in {paths.sweep}")


def _axes(sweep: Sweep) -> Iterator[str]:
    """The values of every axis: a line for each that a grid sets, one for the rest."""
    defaults = {axis.name: [axis.default] for axis in sweep.experiment.axes}
    for number, grid in enumerate(sweep.grids, start=1):
        if len(sweep.grids) > 1:
            yield f"grid {number}"
        yield f"{'seeds':9} {grid.seeds}"
        if grid.estimators:
            yield f"{'estimators'} {', '.join(key.partition('@')[0] for key in grid.estimators)}"
        for name, values in grid.values.items():
            if values != defaults[name]:
                yield f"{name:9} {', '.join(_spoken(name, value) for value in values)}"
        rest = [name for name, values in grid.values.items() if values == defaults[name]]
        yield f"{'default':9} {', '.join(f'{name} {_spoken(name, *defaults[name])}' for name in rest)}"


def _spoken(name: str, value: Value) -> str:
    if name == "lateral" and isinstance(value, float):
        return f"{100 * value:g}%"
    if value is None:
        return "none" if name == "step_size" else "by the reading"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
