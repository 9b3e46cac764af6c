"""Every estimator, in both forms, against the plain oracle in float64 on every named tensor."""

import itertools
from typing import Any

import pytest
import torch

from colrun import gradients, network, sequence
from colrun.estimators.rflo import random_feedback
from colrun.networks.base import CellNetwork, Gradients
from colrun.networks.cells import CELLS
from colrun.testbed import Sequence
from tests import oracle
from tests.estimators.cases import LEVELS, SHAPES, STEP_SIZES, Case, cases

TOLERANCE = 1e-9


def expected(net: CellNetwork, seq: Sequence, alpha: float | None, truth: Gradients) -> dict[str, Gradients]:
    one = oracle.tbptt(net, seq, alpha, 1)
    found = {
        "bptt": truth,
        "rtrl": truth,
        "tbptt-1": one,
        "tbptt-3": oracle.tbptt(net, seq, alpha, 3),
        "tbptt-50": truth,
        "tbptt-block-1": one,
        "tbptt-block-3": oracle.tbptt_block(net, seq, alpha, 3),
        "tbptt-block-50": truth,
        "master-user": oracle.master_user(net, seq, alpha, meta=True),
        "master-user-no-meta": oracle.master_user(net, seq, alpha, meta=False),
        "elman": one,
        "snap-50": truth,
    }
    steps = oracle.steps_of(net, seq)
    found["snap-1"], found["snap-2"] = oracle.snap(net, steps, alpha, (1, 2))
    if net.architecture.cell != "feedforward":
        found["rflo"], found["rflo-symmetric"] = oracle.rflo(
            net, steps, alpha, (random_feedback(net.seed, net.columns), None)
        )
    return found


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
        for form in ("credit", "online"):
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


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("setting", [{}, {"reading": "release"}, {"mask_recurrence": False}])
@pytest.mark.parametrize("step_size", STEP_SIZES)
def test_snap_1_is_master_user_without_lateral_features(
    cell: str, setting: dict[str, Any], step_size: float | None
) -> None:
    """Even where R is whole: a weight of u_i reaches only state i at once, and so does one of φ_i."""
    net, seq = network(1, cell, 5, 4, 0.0, 6, **setting), sequence(1, 12, 6)
    error, name = oracle.relative_error(
        gradients(net, seq, "snap-1", step_size), gradients(net, seq, "master-user", step_size)
    )
    assert error < TOLERANCE, name


@pytest.mark.parametrize("step_size", STEP_SIZES)
def test_orders_of_snap_come_closer_to_the_truth(step_size: float | None) -> None:
    """A ring: what column i does reaches one column more with each order, and all of them at the fifth."""
    net, seq = network(1, "additive", 5, 4, 0.0, 6, init="pytorch"), sequence(1, 12, 6)
    for i in range(5):
        net.masks["R.p"][(i + 1) % 5, i] = True
        net.theta["R.p"][(i + 1) % 5, i] = 0.5
    truth = gradients(net, seq, "bptt", step_size)
    errors = [
        oracle.relative_error(gradients(net, seq, f"snap-{k}", step_size, "online"), truth)[0] for k in range(1, 7)
    ]
    assert min(errors[:4]) > 1e-6
    assert max(errors[4:]) < TOLERANCE
    assert errors[3] < errors[0]


@pytest.mark.parametrize("cell", [cell for cell, entry in CELLS.items() if entry.recurrent])
def test_the_trace_of_rflo_is_exact_where_only_the_leak_carries_the_state(cell: str) -> None:
    """Without laterals in `release` R_ii is masked and columns do not see their state."""
    net, seq = network(1, cell, 5, 4, 0.0, 6, "release"), sequence(1, 12, 6)
    truth = gradients(net, seq, "bptt")
    assert oracle.relative_error(gradients(net, seq, "rflo-symmetric"), truth)[0] < TOLERANCE
    assert oracle.relative_error(gradients(net, seq, "rflo"), truth)[0] > 0.1


def test_random_feedback_is_drawn_as_w_is_and_apart_from_it() -> None:
    drawn = torch.stack([random_feedback(seed, 20) for seed in range(200)])
    w = torch.stack([network(seed, columns=20, width=1, inputs=1).w for seed in range(200)])
    assert float(drawn.std()) == pytest.approx(0.1, rel=0.05)
    assert abs(float(torch.corrcoef(torch.stack([drawn.flatten(), w.flatten()]))[0, 1])) < 0.05
