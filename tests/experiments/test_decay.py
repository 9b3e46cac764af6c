"""`decay` against the equations of the cells, written out."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from colrun.experiments.decay import DecayConfig
from colrun.experiments.decay import job as decay
from colrun.streams import unit_uniform


def parameter(cell: str, name: str, seed: int, hidden: int, *shape: int) -> Tensor:
    uniform = 2 * unit_uniform(seed, f"decay.{cell}.{name}", *shape) - 1
    return torch.from_numpy(uniform / math.sqrt(hidden))


def by_hand(cell: str, hidden: int, bias: bool, seed: int, steps: int) -> list[dict[str, float]]:
    """From h = m = 1 with input 0, so that W_i· drops out:

    LSTM: i, f, o = σ(·), g = tanh(·) of W h + b;  m' = f m + i g,  h' = o tanh(m')
    GRU:  r, z = σ(W h + b),  n = tanh(b_in + r (W h + b_hn)),  h' = (1-z) n + z h
    """
    gates = {"lstm": 4, "gru": 3}[cell]
    W = parameter(cell, "weight_hh_l0", seed, hidden, gates * hidden, hidden)
    b_i, b_h = (
        parameter(cell, f"bias_{kind}_l0", seed, hidden, gates * hidden)
        if bias
        else torch.zeros(gates * hidden).double()
        for kind in ("ih", "hh")
    )
    h = m = torch.ones(hidden, dtype=torch.float64)
    found = [{"h": 1.0, "memory": 1.0}]
    for _ in range(steps):
        recurrent, given = (W @ h + b_h).chunk(gates), b_i.chunk(gates)
        if cell == "lstm":
            i, f, g, o = (a + b for a, b in zip(recurrent, given, strict=True))
            m = f.sigmoid() * m + i.sigmoid() * g.tanh()
            h = o.sigmoid() * m.tanh()
        else:
            r, z = ((recurrent[k] + given[k]).sigmoid() for k in (0, 1))
            n = (given[2] + r * recurrent[2]).tanh()
            h = (1 - z) * n + z * h
        found.append({"h": float(h.abs().mean()), "memory": float(m.abs().mean())})
    return found


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("hidden", [1, 7])
def test_against_the_equations(cell: str, bias: bool, hidden: int) -> None:
    config = DecayConfig(cell=cell, hidden=hidden, bias=bias, dtype="float64", steps=6, inputs=3)
    rows = decay.run(config, [4, 9], [])
    quantities = ["h", "memory"] if cell == "lstm" else ["h"]
    for seed in (4, 9):
        wanted = by_hand(cell, hidden, bias, seed, 6)
        assert [(row["step"], row["quantity"]) for row in rows[seed]] == [(t, q) for t in range(7) for q in quantities]
        for row in rows[seed]:
            assert row["value"] == pytest.approx(wanted[row["step"]][row["quantity"]], rel=1e-12)
            assert row["diverged"] is False
    assert rows[4] != rows[9]


def test_the_default_precision_agrees_with_the_double() -> None:
    config = DecayConfig(cell="lstm", hidden=20, bias=False, dtype="float32", steps=20, inputs=50)
    single, double = (decay.run(replace(config, dtype=dtype), [0], [])[0] for dtype in ("float32", "float64"))
    for one, other in zip(single, double, strict=True):
        assert one["value"] == pytest.approx(other["value"], rel=1e-4)


def test_weights_are_as_pytorch_draws_them() -> None:
    # Mean absolute value of a uniform number in ±1/√n is half of that; a LSTM of 50 units has 10,000 of them.
    weights = parameter("lstm", "weight_hh_l0", 0, 50, 200, 50)
    assert float(weights.abs().max()) <= 50**-0.5
    assert float(weights.abs().mean()) == pytest.approx(0.5 * 50**-0.5, rel=0.02)
