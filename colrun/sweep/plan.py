"""Plans: the jobs of a sweep, and the units of work into which they are packed.

A **job** is one network: a config and a seed, `<config id>.<seed>`. Its rows are one per estimator, and each estimator
is done or not on its own. A **unit** is what a worker takes at once and writes as one part: five seconds of work (the
environment variable COLRUN_UNIT_SECONDS sets another length: tests need many short units), and less in a sweep of few
minutes, so that no core waits long for the last unit of another. Units are cut from the whole plan, whatever is done
already, so that two processes with the same sweep cut the same units and seldom do the same job twice; what is done is
then left out of them.
"""

import itertools
import os
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from colrun.errors import InvalidValueError
from colrun.experiments import EXPERIMENTS, Experiment
from colrun.experiments.declare import Skip
from colrun.sweep.file import Sweep
from colrun.sweep.seeds import Seeds
from colrun.sweep.shard import Shard


def _unit_seconds() -> float:
    text = os.environ.get("COLRUN_UNIT_SECONDS", "5")
    try:
        return float(text)
    except ValueError:
        raise InvalidValueError(f"COLRUN_UNIT_SECONDS is {text!r}; it must be a number such as 5.") from None


UNIT_SECONDS = _unit_seconds()
UNITS, SHORTEST = 128, 0.5
"""A sweep has so many units or more, unless they would be shorter than so many seconds."""
SORTED_TOGETHER = 4096
"""Configs among which those are found that share what a seed draws."""

Config = Any
"""What an experiment declares as its config: a frozen dataclass."""


@dataclass(frozen=True)
class Entry:
    """All jobs of one config."""

    experiment: Experiment[Any]
    config: Config
    estimators: tuple[str, ...]
    """Empty where the experiment takes none."""
    seeds: Seeds

    @cached_property
    def id(self) -> str:
        """Of the config; hashed when first asked for, which a mere count never does."""
        return self.experiment.config_id(self.config)


@dataclass(frozen=True)
class Piece:
    """Seeds of one config that miss the same estimators."""

    config: Config
    id: str
    estimators: tuple[str, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Unit:
    """Pieces that a worker runs at once."""

    experiment: str
    pieces: tuple[Piece, ...]

    @property
    def jobs(self) -> int:
        """Number of jobs in it."""
        return sum(len(piece.seeds) for piece in self.pieces)

    @property
    def seconds(self) -> float:
        """Estimated work."""
        experiment = EXPERIMENTS[self.experiment]
        return sum(len(piece.seeds) * experiment.seconds(piece.config, piece.estimators) for piece in self.pieces)

    def left(self, missing: "Missing") -> "Unit":
        """Without what is done; possibly empty."""
        return Unit(self.experiment, tuple(left for piece in self.pieces for left in _left(piece, missing)))

    def halves(self) -> tuple["Unit", "Unit"]:
        """Two units of half the pieces, or of half the seeds of the only piece."""
        if len(self.pieces) > 1:
            middle = len(self.pieces) // 2
            return Unit(self.experiment, self.pieces[:middle]), Unit(self.experiment, self.pieces[middle:])
        (piece,) = self.pieces
        middle = len(piece.seeds) // 2
        first, second = (replace(piece, seeds=seeds) for seeds in (piece.seeds[:middle], piece.seeds[middle:]))
        return Unit(self.experiment, (first,)), Unit(self.experiment, (second,))


@dataclass
class Skipped:
    """Reasons why points of the grid do not exist, each with how often it came up."""

    reasons: dict[str, int] = field(default_factory=dict)

    def __call__(self, reason: str) -> None:
        """Count it."""
        self.reasons[reason] = self.reasons.get(reason, 0) + 1


def entries(sweep: Sweep, skipped: Skipped | None = None) -> Iterator[Entry]:
    """The jobs of a sweep, by config. Overlapping grids are one: a job has each estimator once."""
    skip = skipped if skipped is not None else Skipped()
    experiment = sweep.experiment
    if len(sweep.grids) == 1:  # nothing can overlap, so nothing is kept in memory
        grid = sweep.grids[0]
        for config in experiment.expand(grid.values, skip):
            estimators = _defined(experiment, config, grid.estimators, skip)
            if estimators or not grid.estimators:
                yield Entry(experiment, config, estimators, grid.seeds)
        return
    wanted: dict[Config, dict[str, Seeds]] = {}
    for grid in sweep.grids:
        for config in experiment.expand(grid.values, skip):
            by_estimator = wanted.setdefault(config, {})
            for name in _defined(experiment, config, grid.estimators, skip) if grid.estimators else ("",):
                by_estimator[name] = by_estimator.get(name, Seeds(())) | grid.seeds
    for config, by_estimator in wanted.items():
        for seeds, names in _by_seeds(by_estimator) if by_estimator else ():
            yield Entry(experiment, config, tuple(name for name in names if name), seeds)


def _defined(experiment: Experiment[Any], config: Config, estimators: tuple[str, ...], skip: Skip) -> tuple[str, ...]:
    """Those that are defined on the config; the reasons for the others go to `skip`."""
    reasons = {name: experiment.undefined(config, name) for name in estimators}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        skip(reason)
    return tuple(name for name in estimators if reasons[name] is None)


def _by_seeds(by_estimator: dict[str, Seeds]) -> Iterator[tuple[Seeds, list[str]]]:
    """Group seeds by the estimators they want."""
    if len(set(by_estimator.values())) == 1:
        yield next(iter(by_estimator.values())), list(by_estimator)
        return
    ends = sorted({end for seeds in by_estimator.values() for limits in seeds.ranges for end in limits})
    groups: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for start, stop in itertools.pairwise(ends):  # between two ends all seeds are wanted by the same estimators
        groups.setdefault(tuple(name for name, seeds in by_estimator.items() if start in seeds), []).append(
            (start, stop)
        )
    for names, ranges in groups.items():
        if names:
            yield Seeds.merged(ranges), list(names)


Missing = Callable[[str, int, tuple[str, ...]], tuple[str, ...] | None]
"""Of a job (config id, seed, estimators): the estimators still missing, or None if nothing is."""


def units(
    sweep: Sweep, missing: Missing | None = None, shard: Shard | None = None, skipped: Skipped | None = None
) -> Iterator[Unit]:
    """The sweep cut into units, without what is done; only those of a shard, which do not depend on what is done."""
    return packed(sweep.experiment, entries(sweep, skipped), missing, shard, unit_length(sweep))


def unit_length(sweep: Sweep) -> float:
    """Seconds of a unit: by the sweep only, whatever is done."""
    total = 0.0
    for entry in entries(sweep):
        total += len(entry.seeds) * sweep.experiment.seconds(entry.config, entry.estimators)
        if total >= UNITS * UNIT_SECONDS:
            return UNIT_SECONDS
    return min(UNIT_SECONDS, max(SHORTEST, total / UNITS))


def packed(
    experiment: Experiment[Any],
    every: Iterator[Entry],
    missing: Missing | None = None,
    shard: Shard | None = None,
    length: float | None = None,
) -> Iterator[Unit]:
    """Entries cut into units, without what is done. What is computed in one call stays in one unit."""
    length = UNIT_SECONDS if length is None else length
    mine = shard.chooser() if shard else None
    pieces: list[Piece] = []
    seconds = 0.0
    for sharing in _sharing(every):
        size, in_one_call = experiment.batch_size(sharing[0].config), _together(experiment, sharing)
        for batch in sharing[0].seeds.batches(size):
            for several in in_one_call:
                for entry in several:
                    pieces.append(Piece(entry.config, entry.id, entry.estimators, tuple(batch)))
                    seconds += len(batch) * experiment.seconds(entry.config, entry.estimators)
                if seconds >= length:
                    if mine is None or mine(seconds):
                        yield from _unit(experiment, pieces, missing)
                    pieces, seconds = [], 0.0
    if mine is None or mine(seconds):
        yield from _unit(experiment, pieces, missing)


def _sharing(every: Iterator[Entry]) -> Iterator[list[Entry]]:
    """Entries of the same seeds that share what a seed draws; a worker that has drawn it once takes them in a row."""
    while window := list(itertools.islice(every, SORTED_TOGETHER)):
        found: dict[tuple[Hashable, Seeds], list[Entry]] = {}
        for entry in window:
            found.setdefault((entry.experiment.shared(entry.config), entry.seeds), []).append(entry)
        yield from found.values()


def _together(experiment: Experiment[Any], sharing: list[Entry]) -> list[list[Entry]]:
    """Entries that are computed in one call."""
    if experiment.together is None:
        return [[entry] for entry in sharing]
    found: dict[Hashable, list[Entry]] = {}
    for entry in sharing:
        found.setdefault(experiment.together(entry.config), []).append(entry)
    return list(found.values())


Job = tuple[Piece, int]
"""A piece and one of its seeds."""


def calls(experiment: Experiment[Any], unit: Unit) -> Iterator[list[Job]]:
    """The jobs of a unit that are computed in one call each: of one batch, and of configs that go together."""
    found: dict[Hashable, list[Job]] = {}
    for number, piece in enumerate(unit.pieces):
        which = number if experiment.together is None else experiment.together(piece.config)
        size = experiment.batch_size(piece.config)
        for batch in Seeds.of(piece.seeds).batches(size):
            key = which, piece.estimators, batch[0] // size
            found.setdefault(key, []).extend((piece, seed) for seed in batch)
    yield from found.values()


def _unit(experiment: Experiment[Any], pieces: list[Piece], missing: Missing | None) -> Iterator[Unit]:
    """The unit without what is done, if anything is left of it."""
    unit = Unit(experiment.name, tuple(pieces))
    if missing is not None:
        unit = unit.left(missing)
    if unit.pieces:
        yield unit


def _left(piece: Piece, missing: Missing) -> Iterator[Piece]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for seed in piece.seeds:
        names = missing(piece.id, seed, piece.estimators)
        if names is not None:
            groups.setdefault(names, []).append(seed)
    for names, seeds in groups.items():
        yield Piece(piece.config, piece.id, names, tuple(seeds))
