"""Where labels at curve ends go."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colrun.drawing.ends import place


def test_labels_with_room_stay_where_they_belong() -> None:
    assert place([30.0, 10.0, 50.0], 8, 0, 100) == [30.0, 10.0, 50.0]


def test_labels_that_would_overlap_move_apart_evenly() -> None:
    assert place([50.0, 50.0, 90.0], 10, 0, 100) == [45.0, 55.0, 90.0]


def test_labels_stay_inside() -> None:
    assert place([100.0, 99.0], 10, 0, 100) == [100.0, 90.0]
    assert place([0.0, 1.0], 10, 0, 100) == [0.0, 10.0]


@given(st.lists(st.floats(0, 100), max_size=10), st.floats(1, 10))
def test_never_closer_than_the_gap_and_in_order(wanted: list[float], gap: float) -> None:
    found = place(wanted, gap, 0, 100)
    pairs = sorted(zip(found, wanted, strict=True))
    assert [want for _, want in pairs] == pytest.approx(sorted(wanted))
    assert all(b[0] - a[0] >= gap - 1e-9 for a, b in itertools.pairwise(pairs))
    assert all(-1e-9 <= spot <= 100 + 1e-9 for spot in found)
