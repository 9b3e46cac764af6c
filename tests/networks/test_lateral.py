"""Masks: how many weights survive, nested over levels, shared over everything else."""

from itertools import pairwise

import pytest
import torch

from colrun import network
from colrun.errors import InvalidValueError
from colrun.networks.lateral import parse_level, resolve


def test_expected_and_realised_lateral_counts_agree() -> None:
    C, W, s, seeds = 10, 20, 0.3, 400
    counts = torch.tensor(
        [network(seed, columns=C, width=W, inputs=1, lateral=s).lateral_weights for seed in range(seeds)]
    )
    n, p = C * (C - 1) * W, s / (C - 1)
    expected, sd = n * p, (n * p * (1 - p)) ** 0.5
    assert expected == pytest.approx(s * W * C)  # on average s·W lateral weights per column
    assert abs(float(counts.double().mean()) - expected) < 4 * sd / seeds**0.5
    assert float(counts.double().std()) == pytest.approx(sd, rel=0.15)


def test_recurrent_counts_follow_the_same_probability() -> None:
    C, s, seeds = 10, 2.0, 300
    off = ~torch.eye(C, dtype=torch.bool)
    share = torch.stack(
        [
            network(seed, columns=C, width=1, inputs=1, lateral=s).masks["R.p"][off].double().mean()
            for seed in range(seeds)
        ]
    )
    assert float(share.mean()) == pytest.approx(s / (C - 1), abs=4 * (0.25 / (seeds * 90)) ** 0.5)


def test_own_recurrence_follows_the_same_probability_in_release() -> None:
    C, s, seeds = 10, 2.0, 300
    own = torch.eye(C, dtype=torch.bool)

    def share(reading: str) -> float:
        nets = (network(seed, columns=C, width=1, inputs=1, lateral=s, reading=reading) for seed in range(seeds))
        return float(torch.stack([net.masks["R.p"][own] for net in nets]).double().mean())

    p = s / (C - 1)
    assert share("release") == pytest.approx(p, abs=4 * (p * (1 - p) / (seeds * C)) ** 0.5)
    assert share("text") == 1


@pytest.mark.parametrize("reading", ["text", "release"])
def test_masks_are_nested_over_levels_and_weights_shared(reading: str) -> None:
    levels: list[float | str] = [0.0, "1%", "10%", 1.0, 3.0, "dense"]
    nets = [network(2, "lstm", 6, 5, level, 3, reading) for level in levels]
    for lower, higher in pairwise(nets):
        for name, mask in lower.masks.items():
            assert (mask <= higher.masks[name]).all()
            assert torch.equal(lower.theta[name][mask], higher.theta[name][mask])
    assert nets[-1].lateral_weights == 4 * 6 * 5 * 5
    assert all(mask.all() for mask in nets[-1].masks.values())
    assert nets[0].lateral_weights == 0


def test_which_weights_are_masked_at_zero() -> None:
    own = torch.eye(4, dtype=torch.bool)
    text = network(0, columns=4, width=2)
    assert torch.equal(text.masks["R.p"], own)
    assert torch.equal(text.masks["U.p"], own[..., None].expand(4, 4, 2))
    assert not network(0, columns=4, width=2, reading="release").masks["R.p"].any()
    assert network(0, columns=4, width=2, mask_recurrence=False).masks["R.p"].all()
    only_laterals = network(0, columns=4, width=2, mask_recurrence=False, mask_own_recurrence=True)
    assert torch.equal(only_laterals.masks["R.p"], ~own)


def test_gates_have_masks_of_their_own() -> None:
    net = network(0, "gru", 10, 10, "300%")
    assert not torch.equal(net.masks["U.g"], net.masks["U.r"])


@pytest.mark.parametrize(
    ("level", "ratio"),
    [("10%", 0.1), ("0.3%", 0.003), (0.1, 0.1), ("0.1", 0.1), (0, 0.0), ("dense", 4.0), ("1e-1%", 0.001)],
)
def test_levels(level: object, ratio: float) -> None:
    assert resolve(level, 5) == ratio


@pytest.mark.parametrize("level", ["ten", "-1%", -0.1, float("nan"), float("inf"), True, None, "", "%", [1]])
def test_bad_levels(level: object) -> None:
    with pytest.raises(InvalidValueError, match="lateral level"):
        parse_level(level)


def test_a_single_column_has_no_lateral_and_in_release_no_recurrent_weight() -> None:
    assert resolve("dense", 1) == resolve("0%", 1) == 0
    assert network(0, columns=1, width=2).masks["R.p"].all()
    assert not network(0, columns=1, width=2, lateral="dense", reading="release").masks["R.p"].any()
    with pytest.raises(InvalidValueError, match=r"'10%': .* a single column has only lateral 0; it must be 0\."):
        resolve("10%", 1)


def test_a_level_above_dense() -> None:
    with pytest.raises(InvalidValueError, match=r"ratio 5 is above .* C-1 = 4 for 5 column.*between 0 and 4"):
        resolve(5, 5)
