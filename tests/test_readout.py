"""The readout: prediction, error, LMS and its bias, against numbers and autograd."""

import pytest
import torch
from torch import Tensor

from colrun import gradients, network, sequence
from colrun.estimators import ESTIMATORS, get_online, parse_estimator
from colrun.estimators.online import run
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork
from colrun.readout import Readout, error_tangent, w_tangent
from colrun.testbed import Sequence
from tests.oracle import relative_error

NAMES = [f"{name}-3" if entry.windowed else name for name, entry in ESTIMATORS.items() if not entry.only_learns]


def small() -> tuple[ColumnarNetwork, Sequence]:
    return network(3, "gru", 3, 2, "dense", 4, "release"), sequence(3, 6, 4)


def test_by_hand() -> None:
    net, _ = small()
    net.w.copy_(torch.tensor([2.0, -1.0, 0.5]))
    s = torch.tensor([[1.0, 2.0, 4.0]]).double()
    plain, with_bias = Readout(net, 0.1, meta=True), Readout(net, 0.1, meta=True, bias=True)
    found = plain.predict(net.theta, s, plain.start(), torch.tensor(5.0))
    assert (float(found.prediction), float(found.delta), float(found.loss)) == (2.0, 3.0, 4.5)
    assert found.w_tp1.tolist() == pytest.approx([2.3, -0.4, 1.7])
    w = torch.tensor([2.0, -1.0, 0.5, 1.0]).double()
    assert with_bias.start().tolist() == [2.0, -1.0, 0.5, 0.0]
    found = with_bias.predict(net.theta, s, w, torch.tensor(5.0))
    assert (float(found.prediction), float(found.delta)) == (3.0, 2.0)
    assert found.w_tp1.tolist() == pytest.approx([2.2, -0.6, 1.3, 1.2])
    still = with_bias.predict(net.theta, s, w, torch.tensor(5.0), counted=False)
    assert torch.equal(still.w_tp1, w)


@pytest.mark.parametrize("bias", [False, True])
def test_tangents_are_those_of_autograd(bias: bool) -> None:
    """Along one direction: h + ε M and w + ε Mw."""
    net, _ = small()
    readout = Readout(net, 0.1, meta=True, bias=bias)
    M, Mw, s = torch.tensor([1.0, -2.0, 0.5]).double(), torch.tensor([0.3, 0.2, -1.0, 0.7]).double(), net.w * 3
    Mw, w, y = Mw[: 3 + bias], readout.start() + 1, torch.tensor(2.0).double()

    def after(epsilon: Tensor) -> tuple[Tensor, Tensor]:
        found = readout.predict(net.theta, (s + epsilon * M).unsqueeze(0), w + epsilon * Mw, y)
        return found.delta, found.w_tp1

    zero = torch.zeros((), dtype=torch.float64)
    delta, (d_delta, d_w) = after(zero)[0], torch.func.jacrev(after)(zero)
    seen, slope = readout.seen(s.unsqueeze(0)), readout.slope(net.theta, s.unsqueeze(0), w).by_state
    torch.testing.assert_close(error_tangent(slope, M, seen, Mw), d_delta)
    torch.testing.assert_close(w_tangent(0.1, Mw, seen, d_delta, delta, M), d_w)


def with_bias(net: ColumnarNetwork, seq: Sequence, alpha: float, meta: bool) -> Gradients:
    theta = {name: value.clone().requires_grad_() for name, value in net.theta.items()}
    s, w = net.initial_state(), torch.cat([net.w, net.w.new_zeros(1)])
    loss = torch.zeros((), dtype=torch.float64)
    for x, y in zip(seq.x, seq.y, strict=True):
        s = net.step(theta, x, s)
        seen = torch.cat([s[0], torch.ones(1, dtype=torch.float64)])
        delta = y - w @ seen
        loss = loss + delta**2 / 2
        w = w + alpha * delta * seen
        w = w if meta else w.detach()
    grads = torch.autograd.grad(loss, list(theta.values()), materialize_grads=True)
    return dict(zip(theta, grads, strict=True))


@pytest.mark.parametrize("meta", [True, False])
def test_exact_forms_go_through_the_bias(meta: bool) -> None:
    net, seq = small()
    wanted = with_bias(net, seq, 0.05, meta)
    assert relative_error(gradients(net, seq, "bptt", 0.05), wanted)[0] > 1e-3
    for name in ("bptt", "rtrl", "tbptt-50", "tbptt-block-50", "snap-50"):
        found = run(get_online(parse_estimator(name)), net, seq, 0.05, meta, bias=True).gradient
        error, where = relative_error(found, wanted)
        assert error < 1e-10, (name, where)


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_takes_a_bias(name: str) -> None:
    net, seq = small()
    for meta in (True, False):
        found = run(get_online(parse_estimator(name)), net, seq, 0.05, meta, bias=True).gradient
        assert all(value.isfinite().all() for value in found.values())
        assert found["A"].any()
