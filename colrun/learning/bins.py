"""A run is cut into a hundred bins, whatever its length: step t of T, counted from 0, is in bin ⌊100 t/T⌋."""

from collections.abc import Iterator

BINS = 100
AT_ONCE = 20_000
"""Steps drawn at once: what is drawn is held in memory."""


def ends(steps: int, bins: int = BINS) -> list[int]:
    """The number of steps up to the end of every bin; one that holds none ends where the one before it does."""
    return [-(-steps * (number + 1) // bins) for number in range(bins)]


def pieces(begin: int, end: int) -> Iterator[int]:
    """A bin in pieces that are drawn at once."""
    while begin < end:
        size = min(AT_ONCE, end - begin)
        yield size
        begin += size
