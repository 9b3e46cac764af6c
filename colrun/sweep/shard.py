"""Shards: a sweep divided among machines that need not know of each other."""

import heapq
import re
from collections.abc import Callable
from dataclasses import dataclass

from colrun.errors import InvalidValueError, shown


@dataclass(frozen=True)
class Shard:
    """Number `index` of `of` shares, from 1."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """From the command line: 1/2."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text, re.ASCII)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise InvalidValueError(
                f"shard {shown(text)} cannot be read; it must be i/n with i from 1 to n, such as 1/2 and 2/2 on two "
                "machines."
            )
        return cls(int(match[1]), int(match[2]))

    def chooser(self) -> Callable[[float], bool]:
        """Whether a unit of so many seconds is of this share; asked of every unit of the plan, in its order.

        Each goes to the share with the least work so far, so shares differ by one unit at most.
        """
        loads = [(0.0, index) for index in range(1, self.of + 1)]

        def mine(seconds: float) -> bool:
            load, index = loads[0]
            heapq.heapreplace(loads, (load + seconds, index))
            return index == self.index

        return mine

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"
