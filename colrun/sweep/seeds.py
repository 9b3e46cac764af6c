"""Seeds: half-open ranges and lists, kept as sorted ranges so that a million of them cost nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from colrun.errors import InvalidValueError, shown

WANTED = 'it must be a half-open range such as "0:100", a list such as [0, 1, 5], or both: "0:10,50"'
MOST = 10**18
"""Seeds are below it, wherever they come from: what is written can be read."""
RANGE = re.compile(r"\s*([0-9]{1,19})(?:\s*:\s*([0-9]{1,19}))?\s*", re.ASCII)


@dataclass(frozen=True)
class Seeds:
    """Sorted ranges (start, stop) that do not touch."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, numbers: object) -> "Seeds":
        """From a sorted or unsorted iterable of numbers."""
        return cls.merged([(n, n + 1) for n in numbers])  # type: ignore[attr-defined]

    @classmethod
    def merged(cls, ranges: list[tuple[int, int]]) -> "Seeds":
        """From ranges in any order, which may overlap."""
        merged: list[tuple[int, int]] = []
        for start, stop in sorted(ranges):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            elif start < stop:
                merged.append((start, stop))
        return cls(tuple(merged))

    @classmethod
    def parse(cls, value: object) -> "Seeds":
        """From a sweep file or the command line."""
        parts = value if isinstance(value, list) else str(value).split(",") if isinstance(value, str) else [value]
        ranges = [cls._range(part, value) for part in parts]
        seeds = cls.merged(ranges)
        if not seeds.ranges:
            raise InvalidValueError(f"seeds {shown(value)} are empty; {WANTED}.")
        return seeds

    @staticmethod
    def _range(part: object, whole: object) -> tuple[int, int]:
        text = str(min(part, MOST)) if isinstance(part, int) and not isinstance(part, bool) else part
        match = RANGE.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise InvalidValueError(f"seeds {shown(whole)} cannot be read; {WANTED}.")
        start = int(match[1])
        stop = start + 1 if match[2] is None else int(match[2])
        if stop > MOST:
            raise InvalidValueError(f"seeds {shown(whole)} are too large; they must be below 10^18, and {WANTED}.")
        if stop <= start:
            raise InvalidValueError(f"seeds {shown(whole)} hold an empty range; {WANTED}.")
        return start, stop

    def __len__(self) -> int:
        return sum(stop - start for start, stop in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for start, stop in self.ranges:
            yield from range(start, stop)

    def __contains__(self, seed: int) -> bool:
        return any(start <= seed < stop for start, stop in self.ranges)

    def __le__(self, other: "Seeds") -> bool:
        return (self | other).ranges == other.ranges

    def __or__(self, other: "Seeds") -> "Seeds":
        return self.merged([*self.ranges, *other.ranges])

    def batches(self, size: int) -> Iterator[list[int]]:
        """Seeds of one fixed batch each: those from k·size to (k+1)·size."""
        batch: list[int] = []
        for seed in self:
            if batch and seed // size != batch[0] // size:
                yield batch
                batch = []
            batch.append(seed)
        if batch:
            yield batch

    def __str__(self) -> str:
        return ",".join(str(start) if stop == start + 1 else f"{start}:{stop}" for start, stop in self.ranges)
