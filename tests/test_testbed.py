"""Random streams and the data they give."""

import math

import pytest
import torch

from colrun import Sequence, sequence
from colrun.errors import InvalidValueError
from colrun.networks.cells import CELLS
from colrun.testbed import initial_w, stream, stream_key

GATES = sorted({gate for entry in CELLS.values() for gate in entry.gates})
STREAMS = [
    *("x", "y", "w", "A", "A.own", "b", "B", "c"),
    *(f"{kind}.{gate}" for kind in ("U", "R", "q", "mask.U", "mask.R") for gate in GATES),
]


def test_all_streams_over_10000_seeds_are_distinct() -> None:
    keys = {stream_key(seed, name) for name in STREAMS for seed in range(10_000)}
    assert len(keys) == 10_000 * len(STREAMS)
    first = {int(stream(seed, name).bit_generator.random_raw()) for name in STREAMS[:4] for seed in range(10_000)}
    assert len(first) == 40_000  # 64-bit draws: a chance collision has probability 4e-11


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
    w = torch.stack([initial_w(seed, 20) for seed in range(500)])
    assert float(w.std()) == pytest.approx(0.1, rel=0.03)
    assert abs(float(w.mean())) < 4 * 0.1 / 100


def test_same_seed_same_data() -> None:
    assert torch.equal(sequence(3).x, sequence(3).x)
    assert not torch.equal(sequence(3).x, sequence(4).x)
    assert torch.equal(sequence(3, dtype=torch.float32).y, sequence(3).y.float())


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (torch.zeros(3), torch.zeros(3)),
        (torch.zeros(3, 2), torch.zeros(2)),
        (torch.zeros(0, 2), torch.zeros(0)),
        (torch.zeros(3, 2), torch.zeros(3).double()),
        (torch.zeros(3, 2).int(), torch.zeros(3).int()),
    ],
)
def test_bad_sequences(x: torch.Tensor, y: torch.Tensor) -> None:
    with pytest.raises(InvalidValueError):
        Sequence(x, y)
