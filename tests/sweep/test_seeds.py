"""Seeds: ranges and lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colrun.errors import InvalidValueError
from colrun.sweep.seeds import Seeds


@pytest.mark.parametrize(
    ("value", "wanted", "text"),
    [
        ("0:5", [0, 1, 2, 3, 4], "0:5"),
        ("7", [7], "7"),
        (7, [7], "7"),
        ([3, 1, 2, 9], [1, 2, 3, 9], "1:4,9"),
        ("0:3,2:5,9", [0, 1, 2, 3, 4, 9], "0:5,9"),
        (["0:2", 5], [0, 1, 5], "0:2,5"),
        (" 1 : 3 , 8 ", [1, 2, 8], "1:3,8"),
        ([4, 4, 4], [4], "4"),
    ],
)
def test_parse(value: object, wanted: list[int], text: str) -> None:
    seeds = Seeds.parse(value)
    assert list(seeds) == wanted
    assert len(seeds) == len(wanted)
    assert str(seeds) == text
    assert Seeds.parse(text) == seeds


@pytest.mark.parametrize(
    "value", ["", ":", "5:", ":5", "3:1", "-1", "1.5", "a", "1;2", None, True, {}, [[1]], "1" * 19, "٣"]
)
def test_refused(value: object) -> None:
    with pytest.raises(InvalidValueError, match=r'half-open range such as "0:100"'):
        Seeds.parse(value)


def test_huge_ranges_cost_nothing() -> None:
    seeds = Seeds.parse("0:900000000000000000")
    assert len(seeds) == 900_000_000_000_000_000
    assert 899_999_999_999_999_999 in seeds
    assert 900_000_000_000_000_000 not in seeds


numbers = st.sets(st.integers(0, 60), min_size=1)


@given(numbers, numbers, st.integers(1, 25))
def test_set_algebra_and_batches(some: set[int], others: set[int], size: int) -> None:
    seeds = Seeds.of(some)
    assert list(seeds) == sorted(some)
    assert list(seeds | Seeds.of(others)) == sorted(some | others)
    batches = list(seeds.batches(size))
    assert [seed for batch in batches for seed in batch] == sorted(some)
    assert all(len({seed // size for seed in batch}) == 1 for batch in batches)
    assert len({batch[0] // size for batch in batches}) == len(batches)  # a batch is never cut in two


def test_the_largest_seeds_can_be_read_again() -> None:
    """What a sweep accepts and stores, every reader must take: alone and as the end of a range."""
    for value in ([10**18 - 1], "999999999999999990:1000000000000000000"):
        seeds = Seeds.parse(value)
        assert Seeds.parse(str(seeds)) == seeds
