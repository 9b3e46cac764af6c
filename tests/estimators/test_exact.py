"""Every estimator, in both forms, against the plain oracle in float64 on every named tensor."""

import itertools

import pytest
import torch

from colrun import gradients, network, sequence
from colrun.networks.base import Gradients, Network
from colrun.networks.cells import CELLS
from colrun.testbed import Sequence
from tests import oracle
from tests.estimators.cases import LEVELS, SHAPES, STEP_SIZES, Case, cases

TOLERANCE = 1e-9


def expected(net: Network, seq: Sequence, alpha: float | None, truth: Gradients) -> dict[str, Gradients]:
    return {
        "bptt": truth,
        "rtrl": truth,
        "tbptt-1": oracle.tbptt(net, seq, alpha, 1),
        "tbptt-3": oracle.tbptt(net, seq, alpha, 3),
        "tbptt-50": truth,
        "tbptt-block-1": oracle.tbptt(net, seq, alpha, 1),
        "tbptt-block-3": oracle.tbptt_block(net, seq, alpha, 3),
        "tbptt-block-50": truth,
        "master-user": oracle.master_user(net, seq, alpha, meta=True),
        "master-user-no-meta": oracle.master_user(net, seq, alpha, meta=False),
    }


def test_every_level_and_step_size_meets_every_shape() -> None:
    for cell, lateral, step_size in itertools.product(CELLS, LEVELS, STEP_SIZES):
        met = {
            case.shape for case in cases() if (case.cell, case.lateral, case.step_size) == (cell, lateral, step_size)
        }
        assert met >= set(SHAPES)


@pytest.mark.parametrize("case", cases(), ids=str)
def test_credit_and_online_form_equal_the_oracle(case: Case) -> None:
    net, seq, truth = case.build()
    assert truth["A"].any()
    for estimator, wanted in expected(net, seq, case.step_size, truth).items():
        for form in ("credit", "torch", "online"):
            error, name = oracle.relative_error(gradients(net, seq, estimator, case.step_size, form), wanted)
            assert error < TOLERANCE, f"{estimator} ({form}) differs in {name} by {error:.1e}"


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
def test_master_user_is_exact_without_lateral_connections(cell: str, reading: str) -> None:
    net, seq = network(1, cell, 6, 5, 0.0, 8, reading), sequence(1, 20, 8)
    error, name = oracle.relative_error(gradients(net, seq, "master-user"), gradients(net, seq, "bptt"))
    assert error < TOLERANCE, name


@pytest.mark.parametrize("cell", [cell for cell, entry in CELLS.items() if entry.recurrent])
def test_master_user_is_not_exact_with_lateral_connections(cell: str) -> None:
    net, seq = network(1, cell, 6, 5, "dense", 8), sequence(1, 20, 8)
    error, _ = oracle.relative_error(gradients(net, seq, "master-user"), gradients(net, seq, "bptt"))
    assert error > 0.01


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("step_size", [None, 0.03])
def test_finite_differences_confirm_bptt(cell: str, step_size: float | None) -> None:
    """On every weight of a small network, through the LMS update as well."""
    net, seq = network(5, cell, 2, 2, "dense", 2, state_bias=True, init="pytorch"), sequence(5, 4, 2)
    found = gradients(net, seq, "bptt", step_size)
    step = 1e-5

    def loss() -> float:
        return float(torch.stack(oracle.losses(net, net.theta, seq, step_size, oracle.never)).sum())

    for name, value in net.theta.items():
        flat, grads = value.view(-1), found[name].reshape(-1)
        for index in range(flat.numel()):
            kept = float(flat[index])
            flat[index] = kept + step
            above = loss()
            flat[index] = kept - step
            below = loss()
            flat[index] = kept
            difference = (above - below) / (2 * step)
            assert float(grads[index]) == pytest.approx(difference, rel=1e-5, abs=1e-6), f"{name}[{index}]"
