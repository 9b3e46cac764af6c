"""The oracle's own yardstick: an error it cannot see would make every exactness test pass."""

import math

import pytest
import torch

from tests.oracle import relative_error


def test_relative_error() -> None:
    truth = {"A": torch.tensor([3.0, 4.0]), "b": torch.tensor([2.0])}
    assert relative_error(truth, truth)[0] == 0
    assert relative_error({"A": torch.tensor([3.0, 4.5]), "b": torch.tensor([2.5])}, truth) == (0.25, "b")
    assert relative_error({"v": torch.tensor([0.5])}, {"v": torch.tensor([0.0])}) == (0.5, "v")


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_never_equal(bad: float) -> None:
    fine, broken = {"A": torch.tensor([1.0])}, {"A": torch.tensor([bad])}
    with pytest.raises(AssertionError, match="found A is not finite"):
        relative_error(broken, fine)
    with pytest.raises(AssertionError, match="expected A is not finite"):
        relative_error(fine, broken)
    with pytest.raises(AssertionError):
        relative_error(broken, broken)
