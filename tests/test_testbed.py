"""Random streams and the data they give."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from colrun import Sequence, dense_network, network, sequence, streams
from colrun.errors import InvalidValueError
from colrun.estimators.master_user_groups import random_owner
from colrun.networks.base import Network
from colrun.networks.cells import CELLS
from colrun.networks.draw import initial_w
from colrun.networks.readings import READINGS
from colrun.streams import stream, stream_key
from colrun.testbed import check_step_size


def used_streams(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every stream that a sequence, a network of any kind or a random group draws from."""
    names: set[str] = set()

    def recorded(seed: int, name: str) -> int:
        names.add(name)
        return stream_key(seed, name)

    monkeypatch.setattr(streams, "stream_key", recorded)
    sequence(0, 1, 1)
    for cell, reading, own_state in itertools.product(CELLS, READINGS, [True, False]):
        nets: list[Network] = [network(0, cell, 2, 1, "dense", 1, reading, own_state=own_state)]
        nets.append(dense_network(0, cell, 2, 1, 1, reading, own_state=own_state))
        for net in nets:
            random_owner(net)
    return sorted(names)


def test_all_streams_over_10000_seeds_are_distinct(monkeypatch: pytest.MonkeyPatch) -> None:
    names = used_streams(monkeypatch)
    gates = {gate for entry in CELLS.values() for gate in entry.gates}
    kinds = ["U", "R", "q", "mask.U", "mask.R", *(f"{place}.{kind}" for place in ("dense", "groups") for kind in "URq")]
    layers = [f"{place}{layer}" for place in ("", "dense.", "groups.") for layer in "AbBc"]
    assert set(names) == {"x", "y", "w", "A.own", *layers, *(f"{kind}.{gate}" for kind in kinds for gate in gates)}
    keys = {stream_key(seed, name) for name in names for seed in range(10_000)}
    assert len(keys) == 10_000 * len(names)
    # The first 64-bit draws: a chance collision has probability 6e-10.
    first = {int(stream(seed, name).bit_generator.random_raw()) for name in names for seed in range(1_000)}
    first |= {int(stream(seed, name).bit_generator.random_raw()) for name in "xywA" for seed in range(1_000, 10_000)}
    assert len(first) == 1_000 * len(names) + 36_000


def test_data() -> None:
    seq = sequence(0)
    assert seq.x.shape == (50, 50)
    assert set(seq.x.flatten().tolist()) == {0.0, 1.0}
    x = torch.stack([sequence(seed).x for seed in range(200)])
    y = torch.stack([sequence(seed).y for seed in range(200)])
    assert float(x.mean()) == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(x.numel()))
    assert float(y.mean()) == pytest.approx(0, abs=4 * 100 / math.sqrt(12 * y.numel()))
    assert float(y.abs().max()) < 50
    assert float(y.std()) == pytest.approx(100 / math.sqrt(12), rel=0.02)
    w = np.stack([initial_w(seed, 20) for seed in range(500)])
    assert float(w.std()) == pytest.approx(0.1, rel=0.03)
    assert abs(float(w.mean())) < 4 * 0.1 / 100


def test_same_seed_same_data() -> None:
    assert torch.equal(sequence(3).x, sequence(3).x)
    assert not torch.equal(sequence(3).x, sequence(4).x)
    assert torch.equal(sequence(3, dtype=torch.float32).y, sequence(3).y.float())


@pytest.mark.parametrize(
    ("x", "y", "dtype"),
    [
        (np.ones((3, 2), np.float32), np.ones(3, np.float32), torch.float32),
        (np.ones((3, 2)), torch.ones(3).double(), torch.float64),
        (np.ones((3, 2), ">f4"), np.ones(3, "<f4"), torch.float32),
        (np.ones((3, 2))[::-1], np.broadcast_to(1.0, 3), torch.float64),  # neither can be a tensor as it is
        (np.ones((3, 2), int), np.ones(3, bool), torch.float64),
        (torch.ones(3, 2).int(), torch.ones(3).bool(), torch.float64),
        ([[1, 1], [1, 1], [1, 1]], [1.0, 1, 1], torch.float64),
        (((1, 1), (True, 1), (1, 1)), np.ones(3), torch.float64),
    ],
)
def test_arrays_and_lists_become_tensors(x: Any, y: Any, dtype: torch.dtype) -> None:
    seq = Sequence(x, y)
    assert torch.equal(seq.x, torch.ones(3, 2, dtype=dtype))
    assert torch.equal(seq.y, torch.ones(3, dtype=dtype))
    assert seq.steps == 3


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (torch.zeros(3), torch.zeros(3), r"got \(3,\) and \(3,\)"),
        (torch.zeros(3, 2), torch.zeros(2), r"got \(3, 2\) and \(2,\)"),
        (torch.zeros(0, 2), torch.zeros(0), "at least one step"),
        (torch.zeros(3, 2), torch.zeros(3).double(), "x is torch.float32 and y is torch.float64.*convert one of them"),
        (torch.zeros(3, 2).half(), torch.zeros(3).half(), r"x \(torch.float16\) must be float32 or float64"),
        (np.zeros((3, 2)), np.zeros(3, np.float16), r"y \(float16\) must be float32 or float64"),
        (torch.zeros(3, 2), torch.zeros(3, dtype=torch.complex64), r"y \(torch.complex64\) must be"),
        ([[0, 1], [0]], [0, 1], r"x \(list\) must be .* in equal rows"),
        ([["a"]], [0], r"x \(list\) must be"),
        ([[None]], [0], r"x \(list\) must be"),
        (None, [0], r"x \(NoneType\) must be"),
        ([[1.0], [math.nan]], [0, 1], "x holds a value that is not finite at step 2"),
        ([[1], [1], [1]], [0, 1, math.inf], "y holds a value that is not finite at step 3"),
    ],
)
def test_bad_sequences(x: Any, y: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Sequence(x, y)


def test_numbers_of_numpy_are_numbers() -> None:
    assert torch.equal(sequence(np.int64(3), np.int32(4), np.uint8(5)).x, sequence(3, 4, 5).x)  # type: ignore[arg-type]
    net = network(np.int64(1), columns=np.int16(3), width=np.int64(2), lateral=np.float64(0.5))  # type: ignore[arg-type]
    assert net.architecture == network(1, columns=3, width=2, lateral=0.5).architecture
    assert [type(value) for value in (net.seed, net.architecture.columns, net.architecture.width)] == [int] * 3
    assert check_step_size(np.float32(0.5)) == 0.5
    assert type(check_step_size(np.int64(1))) is float


@pytest.mark.parametrize("bad", [np.bool_(True), np.float64(3.0), torch.tensor(3.5), "3", None, 3.0])
def test_what_is_no_whole_number(bad: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"steps is .* must be a whole number, 1 or more"):
        sequence(0, bad)


@pytest.mark.parametrize("bad", [True, np.bool_(True), np.float32("nan"), "0.1", 0, 1j])
def test_what_is_no_step_size(bad: Any) -> None:
    with pytest.raises(InvalidValueError, match="must be a finite number above 0"):
        check_step_size(bad)
