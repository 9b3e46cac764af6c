"""float32, in which sweeps run, against float64 at the paper's size. The figures stand in docs/numerics.md."""

import torch

from colrun.networks.architecture import Architecture
from tests.precision import differences


def test_float32_alignment_is_that_of_float64() -> None:
    for lateral in (0.0, "1%", "dense"):
        found = differences(Architecture.of(lateral=lateral), seeds=range(100))
        for name, difference in found.items():
            assert abs(float(difference.mean())) < 0.001, (lateral, name)
            assert float((difference.abs() <= 0.005).double().mean()) >= 0.99, (lateral, name)
            assert torch.isfinite(difference).all()
