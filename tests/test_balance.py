"""Influence balancing: short windows point the wrong way, and rtrl finds θ* = -1/6."""

import numpy as np
import pytest
import torch

from colrun.errors import InvalidValueError
from colrun.tasks.balance import BEST, FIRST, chain, learn, truncated


def test_truncated_gradients_have_the_wrong_sign() -> None:
    assert all(truncated(k) > 0 for k in range(1, 21))
    assert truncated(10_000) == pytest.approx(-6)
    A, b = (torch.from_numpy(part) for part in chain())
    theta, s = torch.tensor(FIRST, dtype=torch.float64, requires_grad=True), torch.zeros(23).double()
    for _ in range(12):
        s = A @ s + theta * b
    assert torch.autograd.grad(s[0], theta)[0].item() == pytest.approx(truncated(12))


def test_rtrl_and_uoro_reach_the_optimum() -> None:
    found = learn("rtrl", 1e-4, 20_000)
    assert found[-1] == pytest.approx(BEST, abs=1e-6)
    assert np.mean([learn("uoro", 1e-5, 30_000, seed)[-3000:].mean() for seed in range(5)]) == pytest.approx(
        BEST, abs=0.02
    )


@pytest.mark.parametrize("window", [1, 2, 5, 10, 20])
def test_short_windows_drive_it_away(window: int) -> None:
    found = learn(f"tbptt-{window}", 1e-3, 3_000)
    kept = found[~np.isnan(found)]
    assert kept[-1] - BEST > FIRST - BEST


def test_a_long_window_is_rtrl() -> None:
    np.testing.assert_allclose(learn("tbptt-300", 1e-3, 300), learn("rtrl", 1e-3, 300), rtol=1e-12)


@pytest.mark.parametrize("name", ["master-user", "tbptt", "rtrl-3"])
def test_refusals(name: str) -> None:
    with pytest.raises(InvalidValueError, match="does not run on balance"):
        learn(name, 1e-3, 10)
