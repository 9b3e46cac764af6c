"""The compiled streams are NumPy's, bit for bit."""

import numpy as np
import pytest

from colrun import sfc64
from colrun.engine.features import Features
from colrun.networks.architecture import Architecture
from colrun.networks.draw import draw_numbers, draw_weights
from colrun.networks.lateral import FEW
from colrun.streams import unit_uniform


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_those_of_numpy(dtype: str) -> None:
    """Many keys, so that some have leading zeros, which SeedSequence leaves out."""
    seeds, names = range(300), ["A", "mask.U.p"]
    keys = sfc64.keys(seeds, names)
    out = np.empty((300, 2, 50), dtype)
    sfc64.fill(keys, 0.37, 2.0, out)
    drawn = np.array([[unit_uniform(seed, name, 50) for name in names] for seed in seeds])
    assert np.array_equal(out, (0.37 * (2 * drawn - 1)).astype(dtype))
    sfc64.fill(keys, 1.0, 1.0, out)
    assert np.array_equal(out, drawn.astype(dtype))


def test_short_keys() -> None:
    for value in (0, 1, 2**31, 2**64 + 5, 2**96 - 1):
        key = np.frombuffer(value.to_bytes(16, "little"), "<u4").astype(np.uint64).reshape(1, 1, 4)
        out = np.empty((1, 1, 10))
        sfc64.fill(key, 1.0, 1.0, out)
        wanted = np.random.Generator(np.random.SFC64(np.random.SeedSequence(value))).random(10)
        assert np.array_equal(out[0, 0], wanted)


@pytest.mark.parametrize("cell", ["additive", "gru"])
def test_few_laterals_are_those_of_the_whole(cell: str) -> None:
    architecture = Architecture.of(cell, 6, 7, 0.1)
    features = Features(architecture, (3, 8), "float32")
    gates = ["p"] if cell == "additive" else ["g", "r", "n"]
    whole = np.stack([[draw_weights(architecture, seed)[f"U.{gate}"] for gate in gates] for seed in (3, 8)])
    numbers = np.stack([[draw_numbers(architecture, seed)[f"U.{gate}"] for gate in gates] for seed in (3, 8)])
    assert np.array_equal(features.whole, whole.astype(np.float32))
    assert np.array_equal(features.numbers, numbers)
    diagonal = range(6)
    assert np.array_equal(features.own.swapaxes(0, 2), features.whole[:, :, diagonal, diagonal].swapaxes(0, 2))
    for survival in (0.0, 0.03, FEW):
        alive = numbers < survival
        alive[:, :, diagonal, diagonal] = False
        places, values = features.laterals(survival)
        assert np.array_equal(places, np.flatnonzero(alive))
        assert np.array_equal(values, features.whole[alive])
