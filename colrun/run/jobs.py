"""Single jobs by id, in this process."""

import warnings
from collections.abc import Iterator
from dataclasses import replace

from colrun.errors import InvalidValueError, StoreError, shown
from colrun.run.apart import end_all
from colrun.run.signals import StoppedError, check_stopped
from colrun.run.unit import Outcome
from colrun.run.worker import work
from colrun.store.compact import bring_up_to_date
from colrun.store.index import read_done, refuse_mixing, set_aside
from colrun.store.load import SetAsideWarning
from colrun.store.paths import Paths
from colrun.store.provenance import Run
from colrun.sweep.file import Sweep
from colrun.sweep.plan import Entry, Unit, calls, entries, packed
from colrun.sweep.seeds import Seeds


def chosen_units(sweep: Sweep, ids: tuple[str, ...]) -> Iterator[Unit]:
    """The named jobs, packed into units in the order of the plan."""
    wanted: dict[str, Seeds | None] = {}
    for text in (part for each in ids for part in each.split("/")):
        config, dot, seeds = text.partition(".")
        have = wanted.get(config, Seeds(()))
        wanted[config] = None if not dot or have is None else have | Seeds.parse(seeds)
    found: dict[str, Seeds] = {}

    def chosen() -> Iterator[Entry]:
        for entry in entries(sweep):
            if entry.id not in wanted:
                continue
            only = wanted[entry.id]
            found[entry.id] = found.get(entry.id, Seeds(())) | entry.seeds
            here = entry.seeds if only is None else Seeds.of(seed for seed in entry.seeds if seed in only)
            if here:
                yield replace(entry, seeds=here)

    yield from packed(sweep.experiment, chosen())
    for config, only in wanted.items():
        unknown = (
            config if config not in found else next((f"{config}.{s}" for s in only or () if s not in found[config]), "")
        )
        if unknown or config not in found:
            raise InvalidValueError(
                f"sweep {sweep.name} has no job {shown(unknown)}; `colrun job --list` and the column `job` have ids."
            )


def run_jobs(sweep: Sweep, paths: Paths, ids: tuple[str, ...]) -> Outcome:
    """Run what is missing of them, unit by unit, so that a signal costs the unit that it comes in."""
    todo = list(chosen_units(sweep, ids))
    done = read_done(paths)
    refuse_mixing(paths, sweep.experiment, sweep.keys, done)
    paths.prepare()
    set_aside(paths, done.broken)
    for error in done.broken:
        warnings.warn(f"{error}; it is set aside in {paths.broken}, and its jobs are missing.", SetAsideWarning, 2)
    if done.older:
        bring_up_to_date(paths)
    run = Run(paths, sweep)
    total = Outcome()
    try:
        for unit in todo:
            outcome = work(unit, paths, sweep.name, run.id)
            total.jobs += outcome.jobs
            total.elsewhere += outcome.elsewhere
            total.failed += outcome.failed
            total.diverged += outcome.diverged
            check_stopped()
    except StoppedError:
        run.finish(stopped=True, **_account(total))
        raise
    finally:
        end_all()
    run.finish(**_account(total))
    _check_rows(paths, todo, total.failed)
    return total


def _check_rows(paths: Paths, todo: list[Unit], failed: list[str]) -> None:
    """What was asked for is there, or was said to have failed."""
    done = read_done(paths)
    every = (
        (f"{p.id}.{s}", done.missing(p.id, s, p.estimators)) for unit in todo for p in unit.pieces for s in p.seeds
    )
    lost = [job for job, missing in every if missing and job not in failed]
    if lost:
        raise StoreError(f"{len(lost)} job(s) have no rows in {paths.sweep}, such as {min(lost)}; run them again.")


def _account(total: Outcome) -> dict[str, int]:
    return {"computed": total.jobs - total.elsewhere - len(total.failed), "failed": len(total.failed)}


def print_again(sweep: Sweep, ids: tuple[str, ...]) -> None:
    """Compute jobs whatever is stored, and print their rows."""
    import pandas as pd

    for unit in list(chosen_units(sweep, ids)):
        for jobs in calls(sweep.experiment, unit):
            found = sweep.experiment.run([(piece.config, seed) for piece, seed in jobs], list(jobs[0][0].estimators))
            for piece, seed in jobs:
                print(f"job {piece.id}.{seed}")
                rows = pd.DataFrame(found[piece.config, seed]).dropna(axis="columns", how="all")
                print(rows.to_string(index=False))
