"""Hostile results folders, each from a seed: names, links, types, sizes and shapes of JSON that colrun never writes."""

import json
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from colrun.errors import StoreError
from colrun.store.load import load_table
from colrun.store.parts import BrokenPartError, PartIndex, encode, read_part
from colrun.store.paths import Paths
from tests.runs import TINY, colrun, write

LIMIT = 120
"""Seconds, generous, after which a command gives no answer."""
ODD = [
    "2",
    "000002",
    "000007",
    "999999",
    "20261116",
    "٠٠٠٠٠٢",
    "x\ny",
    "a" * 200,
    "$(id)",
    "-rf",
    "000001-00000009.parquet",
]
ODD += ["000001-99999999.parquet", "rows", ".hidden.parquet", "20260101T000000Z-abcdef.json", "0123456789abcdef.3.json"]
NEXT: list[Any] = ["../../outside/precious", "..", ".", "", "/etc", None, 7, ["x"], "generation.h.1.0badcafe", "x\0y"]
SEEDS = ["0:999999999999999999", "0:5", "-1", "", "٣", "0:" + "9" * 400, "1," * 5000]
VALUES: list[Any] = [None, [], {}, "", "x", -1, 10**30, 1.5, float("nan"), True, [[]], {"a": None}, "$\\bad{$", "\0"]
FOLDERS = [
    "",
    "_generations",
    "_generations/000001",
    "_runs",
    "_failed",
    "_tmp",
    "_broken",
    "_stale",
    "_generations/000001/_gone",
]


def make(folder: Path) -> set[str]:
    """Twelve jobs in two parts; returns their rows."""
    path = write(folder, {**TINY, "seeds": "0:2"})
    for seed in range(2):
        assert colrun("sweep", path, "-j", 1, "--seeds", seed, "--out", folder / "out").exit_code == 0
    return rows_of(folder / "out" / "tiny")


class Hostile:
    """One folder, beside one that is the user's own."""

    def __init__(self, made: Path, place: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.outside = place / "outside"
        (self.outside / "precious").mkdir(parents=True)
        (self.outside / "precious" / "thesis.tex").write_text("years of work")
        shutil.copytree(made, place / "copy", symlinks=True)
        self.paths = Paths.of(place / "copy" / "out", "tiny")
        self.toml = place / "copy" / "sweep.toml"
        shutil.copy(self.paths.parts()[0], self.outside / "000001-00000001.parquet")
        self.spoiled = False
        """Whether rows may be missing, as their files were taken away or changed."""
        self.did: list[str] = []
        for _ in range(self.dice.randint(1, 4)):
            act = self.dice.choice(
                [self.add, self.add, self.turn, self.record, self.record, self.part, self.part, self.seal]
            )
            self.did.append(act.__name__)
            with suppress(
                OSError, ValueError, IndexError, StoreError, BrokenPartError
            ):  # what it needs may be gone by now
                act()

    def thing(self, path: Path) -> None:
        """Anything but what belongs there."""
        kind = self.dice.choice(["file", "folder", "link", "link", "fifo", "sparse", "loop", "garbage"])
        self.did.append(f"{kind} {path.relative_to(self.paths.sweep)!s:.40}")
        target = self.dice.choice(["", "precious", "precious/thesis.tex", "000001-00000001.parquet", "nothing"])
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(self.outside / target)
        elif kind == "loop":
            path.symlink_to(path.name)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "sparse":
            path.touch()
            os.truncate(path, 1 << 40)
        else:
            path.write_bytes(b"" if kind == "file" else self.dice.randbytes(300))

    def add(self) -> None:
        folder = self.paths.sweep / self.dice.choice(FOLDERS)
        folder.mkdir(exist_ok=True)
        self.thing(folder / self.dice.choice(ODD))

    def turn(self) -> None:
        """Something that colrun wrote becomes something else."""
        every = sorted(path for path in self.paths.sweep.rglob("*") if not path.is_relative_to(self.outside))
        path = self.dice.choice([*every, self.paths.rows, self.paths.generations, self.paths.generation()])
        self.spoiled = True
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        self.thing(path)

    def shape(self) -> Any:
        if self.dice.random() < 0.2:
            return "[" * self.dice.choice([20, 10_000, 200_000])
        return self.dice.choice(VALUES)

    def record(self) -> None:
        """A run's or a failure's record, with one fact of another shape."""
        facts: Any = {"run": "r", "started": "", "finished": None, "sweep_file": self.toml.read_text(), "options": {}}
        facts |= {
            "job": "0123456789abcdef.3",
            "error": "E",
            "experiment": "alignment",
            "parameters": {},
            "traceback": "",
        }
        facts["estimators"] = ["master-user"]
        shape = self.shape()
        if self.dice.random() < 0.8:
            facts[self.dice.choice(list(facts))] = shape
        else:
            facts = shape
        text = shape if isinstance(shape, str) and shape.startswith("[[") else json.dumps(facts)
        where = self.dice.choice(["_runs/29990101T000000Z-abcdef.json", "_failed/0123456789abcdef.3.json"])
        self.did.append(f"{where} {text[-60:]}")
        (self.paths.sweep / where).write_bytes(text.encode(errors="replace") + self.dice.choice([b"", b"\xff"]))

    def put(self, **changes: Any) -> None:
        """A part with the right hashes, and an index or rows that lie."""
        table, index = read_part(self.paths.parts()[0])
        index = replace(index, **changes)
        self.did.append(str(changes)[:80])
        number = self.dice.choice([6, 7, 99_999_999])
        (self.paths.generation() / f"{self.paths.generation().name}-{number:08d}.parquet").write_bytes(
            encode(table, index)
        )

    def part(self) -> None:
        config = self.dice.choice(["0123456789abcdef", "../x", "", "c" * 100])
        done: Any = {config: {self.dice.choice(["master-user", "$\\bad{$", "", "a,,b"]): self.dice.choice(SEEDS)}}
        changes = {"done": done}
        if self.dice.random() < 0.6:
            changes = {self.dice.choice(list(vars(PartIndex("", 0, {}, 0, 0, "", 0, 0)))): self.dice.choice(VALUES)}
        self.put(**changes)

    def seal(self) -> None:
        """The end of a generation, with a successor elsewhere, or one that holds nothing."""
        following = self.dice.choice(NEXT)
        if self.dice.random() < 0.5:
            (self.paths.temporary / "generation.h.1.0badcafe").symlink_to(self.outside / "precious")
        elif self.dice.random() < 0.5:
            (self.paths.temporary / "generation.h.1.0badcafe").mkdir()
        self.put(done={}, extra={"next": following})

    def commands(self) -> Iterator[tuple[object, ...]]:
        results, out = self.paths.sweep.parent, self.outside.parent / "merged"
        every: list[tuple[object, ...]] = [
            ("status", "--results", results),
            ("status", "tiny", "--results", results, "--verify"),
            ("compact", "tiny", "--results", results),
            ("export", "tiny", "--csv", "--results", results),
            ("merge", results, "--out", out),
            ("sweep", self.toml, "-j", 1, "--out", results, "-q", "--dry-run"),
            ("sweep", self.toml, "-j", 1, "--out", results, "-q"),
            ("show", "0123456789abcdef.3", "--results", results),
        ]
        yield from self.dice.sample(every, 2)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns) for path in folder.rglob("*")
    }


@contextmanager
def answering() -> Iterator[None]:
    def hung(*_: object) -> None:
        raise TimeoutError(f"no answer within {LIMIT} seconds")

    before: Any = signal.signal(signal.SIGALRM, hung)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def rows_of(folder: Path) -> set[str]:
    try:
        return {json.dumps(row, sort_keys=True, default=str) for row in load_table(folder).to_pylist()}
    except StoreError:
        return set()


def hold(made: Path, place: Path, seed: int, good: set[str]) -> None:
    """Make the folder of a seed, run commands on it, and see that the promises hold."""
    hostile = Hostile(made, place, seed)
    before = snapshot(hostile.outside)
    about = f"seed {seed}: {hostile.did}"
    check: Callable[[], None] = lambda: _same(snapshot(hostile.outside), before, about)  # noqa: E731
    for command in hostile.commands():
        try:
            with answering():
                result = colrun(*command)
        except Exception as error:
            raise AssertionError(f"{about}: {command} raised {type(error).__name__}: {error}") from error
        assert result.exit_code in (0, 1, 2), about
        check()
    with answering():
        found = rows_of(hostile.paths.sweep)
        merged = place / "merged" / "tiny"
        joined = rows_of(merged) if merged.is_dir() else set()
    assert found <= good, f"{about}: rows that nobody computed"
    assert joined <= good, f"{about}: merged rows that nobody computed"
    assert hostile.spoiled or found == good, f"{about}: {len(good - found)} good rows are not there any more"
    check()


def _same(now: object, before: object, about: str) -> None:
    assert now == before, f"{about}: something outside the sweep's folder was touched"
