"""Batches: units of work put together for one start of Python, as the lists that generated scripts go through."""

from collections.abc import Iterator

from colrun.run.sweep import count, not_failed
from colrun.store.index import failures, read_done, refuse_mixing
from colrun.store.paths import Paths
from colrun.sweep.file import Sweep
from colrun.sweep.plan import Unit, units
from colrun.sweep.seeds import Seeds

LONGEST = 60_000
"""Characters of a batch. Linux takes no argument above 128 KiB, and GNU Parallel quotes it again for every host."""
SHARE = 2
"""A batch is at most this part of a slot's share of what is left."""


def missing_batches(
    sweep: Sweep, paths: Paths, seconds: float, slots: int | None = None, retry_failed: bool = False
) -> Iterator[str]:
    """What is missing of a sweep: one line per batch, which is an argument of `colrun job`.

    A batch is about `seconds` of work. With `slots` places that work at once batches get smaller towards the end, down
    to one unit, so that all places end at about the same time.
    """
    done, failed = read_done(paths), failures(paths)
    refuse_mixing(paths, sweep.experiment, sweep.keys, done)
    known = {} if retry_failed else failed
    left = count(sweep, done, known).seconds
    batch = _Batch()
    for unit in units(sweep, not_failed(done, known)):
        for config, seeds in _by_config(unit):
            if batch.length + len(config) + len(seeds) + 2 > LONGEST:
                yield str(batch)
                batch = _Batch()
            batch.add(config, seeds)
        batch.seconds += unit.seconds
        left -= unit.seconds
        if batch.seconds >= (seconds if slots is None else min(seconds, (left + batch.seconds) / (SHARE * slots))):
            yield str(batch)
            batch = _Batch()
    if batch.jobs:
        yield str(batch)


class _Batch:
    """Jobs so far."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, str]] = []
        self.length = 0
        self.seconds = 0.0

    def add(self, config: str, seeds: str) -> None:
        """Seeds of a config."""
        self.jobs.append((config, seeds))
        self.length += len(config) + len(seeds) + 2

    def __str__(self) -> str:
        by_config: dict[str, list[str]] = {}
        for config, seeds in self.jobs:
            by_config.setdefault(config, []).append(seeds)
        return "/".join(f"{config}.{Seeds.parse(','.join(seeds))}" for config, seeds in by_config.items())


def _by_config(unit: Unit) -> Iterator[tuple[str, str]]:
    """Pieces of a config may miss different estimators; a list names jobs only."""
    by_config: dict[str, list[int]] = {}
    for piece in unit.pieces:
        by_config.setdefault(piece.id, []).extend(piece.seeds)
    for config, seeds in by_config.items():
        yield config, str(Seeds.of(seeds))
