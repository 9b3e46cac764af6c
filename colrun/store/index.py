"""What is done: the indices of all parts of a sweep, put together."""

import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError, StoreError
from colrun.estimators import parse_estimator
from colrun.experiments import EXPERIMENTS, Experiment
from colrun.store.files import StrangeFileError, listed, read_json
from colrun.store.generations import gone_in, last_number, numbers_in, part_path, set_part_aside, settle, wait_a_little
from colrun.store.parts import BrokenPartError, PartIndex, is_older, read_footer, read_index, verify_part
from colrun.store.paths import Paths, claim
from colrun.store.records import FAILED, FAILURE, checked
from colrun.sweep.seeds import Seeds

ATTEMPTS = 1000


@cache
def _names(joined: str) -> frozenset[str]:
    return frozenset(joined.split(","))


@dataclass
class Done:
    """Per config and seed the estimators that are done ("" where an experiment takes none)."""

    jobs: dict[str, dict[int, frozenset[str]]] = field(default_factory=dict)
    parts: int = 0
    rows: int = 0
    diverged: int = 0
    seconds: float = 0.0
    estimated: float = 0.0
    versions: set[int] = field(default_factory=set)
    experiments: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    """Of all estimators."""
    broken: list[BrokenPartError] = field(default_factory=list)
    older: int = 0
    """Parts from before the experiment had all of its columns."""

    def add(self, index: PartIndex) -> None:
        """One part more; a seal holds nothing and does not count."""
        if not index.done:
            return
        self.parts += 1
        self.rows += index.rows
        self.diverged += index.diverged
        self.seconds += index.seconds
        self.estimated += index.estimated
        self.versions.add(index.numerics)
        self.experiments.add(index.experiment)
        for config, groups in index.done.items():
            seeds = self.jobs.setdefault(config, {})
            for joined, text in groups.items():
                names = _names(joined)
                self.keys |= names
                for seed in Seeds.parse(text):
                    have = seeds.get(seed)
                    seeds[seed] = names if have is None else have | names

    def missing(self, config: str, seed: int, estimators: tuple[str, ...]) -> tuple[str, ...] | None:
        """The estimators still missing of a job, or None if it is done."""
        have = self.jobs.get(config, {}).get(seed)
        if have is None:
            return estimators
        left = tuple(name for name in estimators if name not in have)
        return left or None

    def count(self) -> int:
        """Number of jobs with any row."""
        return sum(len(seeds) for seeds in self.jobs.values())

    def stale(self, experiment: Experiment[Any]) -> set[int]:
        """Numerics versions among the parts that are not the current one."""
        return self.versions - {experiment.numerics}

    def stale_estimators(self, keys: Iterable[str]) -> dict[str, str]:
        """Of these estimators those with rows by another form of them than today's: key → what is another now."""
        current = {key.partition("@")[0]: key for key in keys}
        found = {}
        for key in sorted(self.keys):
            now = current.get(key.partition("@")[0], key)
            if now != key:
                name = parse_estimator(now)
                found[key] = (
                    f"this program computes numerics version {name.numerics} of it"
                    if name.source is None
                    else "the source of that plug-in is another now"
                )
        return found


def read_done(paths: Paths, verify: bool = False) -> Done:
    """From the footers; `verify` reads every row. Parts that are broken are listed, not counted."""
    done = Done()
    read = verify_part if verify else read_footer
    for path in paths.parts():
        try:
            index, columns = read(path)
            done.add(index)
            done.older += index.experiment in EXPERIMENTS and is_older(columns, EXPERIMENTS[index.experiment])
        except BrokenPartError as error:
            done.broken.append(error)
        except FileNotFoundError:  # compacted away since the folder was listed: its rows are in another part
            return read_done(paths, verify)
    return done


def refuse_mixing(paths: Paths, experiment: Experiment[Any], keys: Iterable[str], done: Done) -> None:
    """Rows of another experiment or numerics version never get into one table with new ones.

    To be asked when a sweep starts, and of every part in the moment in which it is published.
    """
    others = done.experiments - {experiment.name}
    if others:
        raise InvalidValueError(
            f"{paths.sweep} holds rows of experiment {', '.join(sorted(others))}, and this sweep's is "
            f"{experiment.name}; give the sweep another name, or write elsewhere."
        )
    stale = done.stale(experiment)
    if stale:
        raise InvalidValueError(
            f"{paths.sweep} holds rows of numerics version {', '.join(map(str, sorted(stale)))}, and this program "
            f"computes version {experiment.numerics}; they are stale and are never mixed with new ones. Run "
            f"`colrun sweep` with --recompute-stale to set them aside in {paths.stale} and compute them again, or "
            "write elsewhere."
        )
    for why, some in itertools.groupby(sorted(done.stale_estimators(keys).items(), key=_why), key=_why):
        raise InvalidValueError(
            f"{paths.sweep} holds rows of {', '.join(key for key, _ in some)}, and {why}; "
            "they are stale and are never mixed with new ones. Run `colrun sweep` with --recompute-stale to set them "
            f"aside in {paths.stale} and compute them again, or write elsewhere."
        )


def _why(stale: tuple[str, str]) -> str:
    return stale[1]


class Watch:
    """Keeps up with a sweep's folder in which other processes write too: reads only parts it has not seen."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.done = Done()
        self._folder = Path()
        self._seen: set[int] = set()
        self._upto = 0

    def refresh(self) -> Done:
        """What is done by now. A part that is broken counts as not there."""
        self.next()
        return self.done

    def next(self) -> Path:
        """The path that a new part may take, once all parts before it were read."""
        for attempt in range(ATTEMPTS):
            folder = settle(self.paths, self._folder, self._upto)
            gone = gone_in(folder)
            if gone & self._seen:  # set aside since: not done any more
                self.done, self._folder = Done(), Path()
            numbers: list[int] = []
            if folder != self._folder:
                numbers = numbers_in(folder)
                self._folder, self._seen, self._upto = folder, set(), max((*numbers, *gone), default=0)
            last = last_number(folder, self._upto)
            if self._read([*numbers, *range(self._upto + 1, last + 1)], gone):
                self._upto = last
                return part_path(folder, last + 1)
            self._folder = Path()
            wait_a_little(attempt)
        raise StoreError(f"cannot read below {self.paths.sweep}: parts that are listed there cannot be found.")

    def _read(self, numbers: list[int], gone: set[int]) -> bool:
        """Those parts; False if the generation was compacted this moment, as one that was there is not."""
        for number in numbers:
            if number not in gone:
                try:
                    self.done.add(read_index(part_path(self._folder, number)))
                    self._seen.add(number)
                except BrokenPartError:
                    pass
                except FileNotFoundError:
                    return False
        return True


def publish(watch: Watch, content: Callable[[Done], bytes | None]) -> None:
    """Make rows visible, all at once. `content` leaves out what others have done by then; None if nothing is left."""
    for attempt in range(ATTEMPTS):
        free = watch.next()
        part = content(watch.done)
        if part is None or claim(watch.paths, free, part):
            return
        wait_a_little(attempt)
    raise StoreError(f"cannot write below {watch.paths.sweep}: {ATTEMPTS} times in a row another process was faster.")


def set_aside(paths: Paths, broken: list[BrokenPartError]) -> None:
    """Move broken parts out of readers' sight; their jobs are then missing and run again."""
    for error in broken:
        set_part_aside(paths, error.path, paths.broken)


def set_stale_aside(paths: Paths, experiment: Experiment[Any]) -> int:
    """Move parts of another numerics version out of readers' sight; returns how many there were."""
    moved = 0
    for path in paths.parts():
        try:
            numerics = read_index(path).numerics
        except (BrokenPartError, FileNotFoundError):  # another process was faster
            continue
        if numerics != experiment.numerics:
            set_part_aside(paths, path, paths.stale / f"numerics-{numerics}")
            moved += 1
    return moved


def failures(paths: Paths) -> dict[str, dict[str, Any]]:
    """Failed jobs by id, with parameters and traceback."""
    jobs = [match[1] for name in listed(paths.failed) if (match := FAILURE.fullmatch(name))]
    return {job: facts for job in jobs if (facts := failure_of(paths, job)) is not None}


def failure_of(paths: Paths, job: str) -> dict[str, Any] | None:
    """What is known of a failed job; None if there is no such record, or none that colrun has written."""
    try:
        facts = read_json(paths.failed / f"{job}.json")
        checked(facts, FAILED)
    except (OSError, StrangeFileError):
        return None
    return facts if facts["job"] == job else None


def forget_failure(paths: Paths, job: str, estimators: Collection[str]) -> None:
    """Forget a failure, now that these estimators of the job are done, if it was one of these."""
    facts = failure_of(paths, job)
    if facts is not None and set(facts["estimators"]) <= set(estimators):
        (paths.failed / f"{job}.json").unlink(missing_ok=True)
