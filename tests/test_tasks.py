"""Tasks: their streams, levels and names."""

import itertools

import numpy as np
import pytest

from colrun.errors import InvalidValueError
from colrun.tasks import TASKS, Stream, get_task, split_name, stream, task_names

FREE = 6
"""Inputs of a task that takes any number."""


def taken(name: str, *pieces: int, seed: int = 3) -> Stream:
    """The stream in pieces, put together."""
    task = get_task(name)
    source = task.source(seed, task.inputs or FREE)
    return Stream(*map(np.concatenate, zip(*(source.take(steps) for steps in pieces), strict=True)))


@pytest.mark.parametrize("name", task_names())
def test_a_stream_is_the_same_in_pieces_and_whatever_its_length(name: str) -> None:
    whole = taken(name, 12_000)
    assert whole.x.shape == (12_000, get_task(name).inputs or FREE)
    assert whole.y.shape == whole.counted.shape == (12_000,)
    assert whole.x.dtype == whole.y.dtype == np.float64
    assert whole.counted.dtype == np.bool_
    for pieces in ((1, 1, 1, 7, 40, 11_950), (4_999, 2, 6_999), (100,), (1,)):
        for one, other in zip(whole, taken(name, *pieces), strict=True):
            assert np.array_equal(one[: sum(pieces)], other)


@pytest.mark.parametrize("name", task_names())
def test_seeds_differ(name: str) -> None:
    assert not np.array_equal(taken(name, 500).y, taken(name, 500, seed=4).y)


@pytest.mark.parametrize("name", [name for name in task_names() if get_task(name).trivial is not None])
def test_the_best_constant_leaves_the_stated_level(name: str) -> None:
    found = [taken(name, 100_000, seed=seed) for seed in range(3)]
    y = np.concatenate([each.y[each.counted] for each in found])
    assert y.var() == pytest.approx(get_task(name).trivial, rel=0.02)


def test_levels() -> None:
    assert get_task("cue-8-12").trivial == pytest.approx(0.0714, abs=5e-5)
    assert get_task("add-5-9").trivial == pytest.approx(0.0781, abs=5e-5)
    assert get_task("pattern-7-13").trivial == pytest.approx(0.0646, abs=5e-5)
    assert get_task("tracking").trivial == 5


def test_cue() -> None:
    found = taken("cue-3-5", 5_000)
    assert set(found.x[:, 2:].flatten()) == {-1.0, 1.0}
    cues, queries = np.flatnonzero(found.x[:, 0]), np.flatnonzero(found.x[:, 1])
    assert cues[0] == 0
    delays = queries - cues[: len(queries)]
    assert set(delays) == {3, 4, 5}
    assert set(np.diff(cues)[: len(delays) - 1] - delays[: len(np.diff(cues))][: len(delays) - 1] - 1) == {2, 3, 4}
    assert np.array_equal(found.y[queries], found.x[cues[: len(queries)], 0])
    assert np.count_nonzero(found.y) == len(queries)
    assert set(found.x[cues, 0]) == {-1.0, 1.0}


def test_add() -> None:
    found = taken("add-2-5", 200)
    bit = found.x[:, 0]
    assert np.array_equal(found.x[:, 1], 1 - bit)
    assert list(found.counted[:7]) == [False] * 5 + [True] * 2
    for t in range(5, 200):
        assert found.y[t] == 0.5 + 0.5 * bit[t - 2] - 0.25 * bit[t - 5]
    known = taken("add-5-9", 50_000)
    far = np.roll(known.x[:, 0], 9)[known.counted]
    near = np.roll(known.x[:, 0], 5)[known.counted]
    y = known.y[known.counted]
    assert np.var(y + 0.25 * far) == pytest.approx(0.0625, rel=0.02)
    assert np.var(y - 0.5 * near) == pytest.approx(0.0156, rel=0.02)


def test_pattern() -> None:
    found = taken("pattern-7-13", 60_000)
    onsets = np.flatnonzero(found.x[:, :6].sum(1))
    assert onsets[0] == 0
    assert (found.x[onsets, :6].sum(1) == 3).all()
    assert len(np.unique(found.x[onsets, :6], axis=0)) == 20
    us = np.flatnonzero(found.x[:, 6])
    valid: dict[tuple[float, ...], bool] = {}
    for start, end in itertools.pairwise(onsets):
        here = us[(us > start) & (us < end)]
        key = tuple(found.x[start, :6])
        assert valid.setdefault(key, len(here) == 1) == (len(here) == 1)
        assert 7 + 16 <= end - start <= 13 + 24
        expected = np.zeros(end - start)
        if len(here):
            isi = int(here[0]) - start
            assert 7 <= isi <= 13
            expected[:isi] = 0.9 ** (isi - 1 - np.arange(isi))
        assert np.allclose(found.y[start:end], expected, rtol=0, atol=1e-15)
    assert sum(valid.values()) == 10
    rates = found.x[:, 7:].mean(0)
    assert np.allclose(rates, [0.1, 0.05, 1 / 30, 0.025, 0.02], rtol=0.1)
    assert get_task("pattern-24-36-80-120").inputs == 12


def test_tracking() -> None:
    found = taken("tracking", 4_000)
    signs = np.stack(
        [np.linalg.lstsq(found.x[k : k + 20, :5], found.y[k : k + 20], rcond=None)[0] for k in range(0, 4_000, 20)]
    )
    assert np.allclose(np.abs(signs), 1)
    flips = (np.abs(np.diff(signs, axis=0)) > 1).sum(1)
    assert (flips == 1).all()


def test_geoff() -> None:
    source = get_task("geoff").source(0, 21)
    found = source.take(30_000)
    assert (found.x[:, 20] == 1).all()
    assert set(found.x[:, :20].flatten()) == {0.0, 1.0}
    clean = np.stack([source.target(network, found.x[:, :20]) for network in range(3)])  # type: ignore[attr-defined]
    for step in (0, 4_999, 5_000, 9_999, 10_000, 15_000, 29_999):
        which = step // 5_000 % 3
        here = slice(step - step % 5_000, step - step % 5_000 + 5_000)
        assert np.std(found.y[here] - clean[which, here]) == pytest.approx(1, rel=0.05)
    assert len(np.unique(clean[0])) > 5


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cue", "takes 2, as in cue-8-12"),
        ("cue-8", "takes 2, as in cue-8-12"),
        ("cue-12-8", "12 is above 8"),
        ("cue-0-8", "from 1 to"),
        ("add-9-5", "must be below its second"),
        ("pattern-1-2-3", "takes 2 or 4"),
        ("tracking-3", "takes no"),
        ("cues-8-12", "Did you mean 'cue-8-12'"),
        ("cue-8-1e3", "is not known"),
        ("Random", "Did you mean 'random'"),
    ],
)
def test_bad_names(name: str, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        get_task(name)


def test_inputs_must_fit() -> None:
    with pytest.raises(InvalidValueError, match="task cue-8-12 has 4 inputs, and the network takes 50"):
        stream("cue-8-12", 0, 10, 50)
    assert stream("random", 0, 10, 50).x.shape == (10, 50)
    assert split_name("pattern-7-13") == ("pattern", (7, 13))
    assert TASKS["random"].learns is False
