"""Master-User worked out by hand, and its two ways to the local gradient."""

import pytest
import torch
from torch import Tensor

from colrun import dense_network, gradients, network, sequence
from colrun.estimators import EstimatorName
from colrun.estimators.master_user import OnlineColumns, begin
from colrun.estimators.master_user_groups import OnlineGroups, random_owner
from colrun.experiments.grouping.dense import Together
from colrun.networks.base import Network
from colrun.networks.cells import CELLS
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.dense import DenseNetwork
from colrun.readout import Readout
from colrun.testbed import Sequence
from tests.oracle import relative_error


def tiny() -> tuple[ColumnarNetwork, Sequence]:
    """Two columns of width 1 with one input, two steps, all weights round numbers.

    To make the arithmetic short: columns do not see their state, all relus are open, and tanh'(p) is written out.
    A = 1, B = 1, so f_1(t) = f_2(t) = x(t). U = [[0.5, 0.25], [0, -0.5]], R = [[0.5, 1], [0, 0.25]].
    """
    net = network(0, "additive", columns=2, width=1, inputs=1, lateral="dense", own_state=False)
    net.theta["A"].fill_(1.0)
    net.theta["B"].fill_(1.0)
    net.theta["U.p"].copy_(torch.tensor([[[0.5], [0.25]], [[0.0], [-0.5]]]))
    net.theta["R.p"].copy_(torch.tensor([[0.5, 1.0], [0.0, 0.25]]))
    net.w.copy_(torch.tensor([2.0, -1.0]))
    return net, Sequence(torch.tensor([[1.0], [2.0]]).double(), torch.tensor([1.0, -1.0]).double())


def test_by_hand() -> None:
    net, seq = tiny()
    tanh = torch.tanh

    def t(value: float) -> Tensor:
        return torch.tensor(value, dtype=torch.float64)

    # Step 1, x = 1, h(0) = 0: p_1 = 0.5 + 0.25 = 0.75, p_2 = -0.5.
    h1, h2 = tanh(t(0.75)), tanh(t(-0.5))
    k1, k2 = 1 - h1**2, 1 - h2**2  # ∂h_i/∂p_i
    delta = 1 - (2 * h1 - h2)
    # Traces after step 1 are the local gradients. A_1 reaches h_1 by U_11 x = 0.5; A_2 reaches h_2 by U_22 x = -0.5.
    e_A1, e_A2 = k1 * 0.5, k2 * -0.5
    e_U11 = e_U12 = k1 * 1.0  # f_j(1) = 1
    e_R12 = t(0.0)  # h(0) = 0
    # Credit: -δ w_i e_i
    g_A1, g_A2 = -delta * 2 * e_A1, -delta * -1 * e_A2
    g_U11, g_U12, g_R12 = -delta * 2 * e_U11, -delta * 2 * e_U12, -delta * 2 * e_R12
    # Step 2, x = 2: p_1 = 1 + 0.5 + 0.5 h_1 + h_2, p_2 = -1 + 0.25 h_2.
    p1, p2 = 1.5 + 0.5 * h1 + h2, -1 + 0.25 * h2
    H1, H2 = h1 + tanh(p1), h2 + tanh(p2)
    K1, K2 = 1 - tanh(p1) ** 2, 1 - tanh(p2) ** 2
    delta = -1 - (2 * H1 - H2)
    # d_i = 1 + K_i R_ii; the path h_2(1) → h_1(2) by R_12 = 1 is what Master-User leaves out.
    d1, d2 = 1 + K1 * 0.5, 1 + K2 * 0.25
    e_A1, e_A2 = K1 * 0.5 * 2 + d1 * e_A1, K2 * -0.5 * 2 + d2 * e_A2
    e_U11, e_U12 = K1 * 2 + d1 * e_U11, K1 * 2 + d1 * e_U12
    e_R12 = K1 * h2 + d1 * e_R12
    g_A1, g_A2 = g_A1 - delta * 2 * e_A1, g_A2 - delta * -1 * e_A2
    g_U11, g_U12 = g_U11 - delta * 2 * e_U11, g_U12 - delta * 2 * e_U12
    g_R12 = g_R12 - delta * 2 * e_R12
    for form in ("credit", "online"):
        found = gradients(net, seq, "master-user", form=form)
        torch.testing.assert_close(found["A"].flatten(), torch.stack([g_A1, g_A2]), rtol=1e-12, atol=0)
        torch.testing.assert_close(found["U.p"][0].flatten(), torch.stack([g_U11, g_U12]), rtol=1e-12, atol=0)
        torch.testing.assert_close(found["R.p"][0, 1], g_R12, rtol=1e-12, atol=0)


def test_meta_by_hand() -> None:
    """One weight, U_22 of the tiny network with a learning w, α = 0.1."""
    net, seq = tiny()
    alpha = 0.1
    # Step 1: h as above, TW = 0 before it.
    h1, h2 = torch.tanh(torch.tensor([0.75, -0.5], dtype=torch.float64))
    delta = 1 - (2 * h1 - h2)
    e = (1 - h2**2) * 1.0
    g = -delta * -1 * e
    # eq. tw_update with w_2(1) = -1, the value before the update: TW = α (δ - h_2 w_2) e
    TW = alpha * (delta + h2) * e
    w1, w2 = 2 + alpha * delta * h1, -1 + alpha * delta * h2
    # Step 2
    p1, p2 = 1.5 + 0.5 * h1 + h2, -1 + 0.25 * h2
    H1, H2 = h1 + torch.tanh(p1), h2 + torch.tanh(p2)
    K2 = 1 - torch.tanh(p2) ** 2
    delta = -1 - (w1 * H1 + w2 * H2)
    e = K2 * 2 + (1 + K2 * 0.25) * e
    # eq. final_update
    g = g - delta * (w2 * e + H2 * TW)
    for form in ("credit", "online"):
        found = gradients(net, seq, "master-user", alpha, form)["U.p"][1, 1, 0]
        torch.testing.assert_close(found, g, rtol=1e-12, atol=0)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_one_backward_pass_with_stopped_gradients_equals_one_per_state(
    cell: str, reading: str, step_size: float | None
) -> None:
    """Section 4.1 against section 3, with columns as groups."""
    net, seq = network(7, cell, 4, 3, "60%", 5, reading), sequence(7, 6, 5)
    single, per_state = OnlineColumns(EstimatorName("master-user")), OnlineGroups(EstimatorName("master-user-groups"))
    one = single.init(net, step_size)
    other = begin(Readout(net, step_size, step_size is not None), net.owner)
    for x_t, y_t in zip(seq.x, seq.y, strict=True):
        one, found = single.step(one, net.theta, x_t, y_t)
        other, wanted = per_state.step(other, net.theta, x_t, y_t)
        for name in net.theta:
            torch.testing.assert_close(one.e[name], other.e[name], rtol=1e-12, atol=1e-15)
        error, where = relative_error(found.gradient, wanted.gradient)
        assert error < 1e-12, where


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dense", [True, False])
def test_groups_online_equals_credit_on_dense_and_columnar_networks(cell: str, dense: bool) -> None:
    net: Network = (
        dense_network(3, cell, 4, 3, 5, "release") if dense else network(3, cell, 4, 3, "dense", 5, "release")
    )
    seq = sequence(3, 6, 5)
    found = gradients(net, seq, "master-user-groups", 0.02, form="online")
    name = EstimatorName("master-user-groups")
    if isinstance(net, DenseNetwork):
        credit = {k: v[0] for k, v in Together([net], [seq], 0.02).gradients(name).items()}
    else:
        credit = gradients(net, seq, "master-user-groups", 0.02)
    error, where = relative_error(credit, found)
    assert error < 1e-10, where


def test_groups_with_one_state_are_exact() -> None:
    """One state owns every weight, so nothing is left out."""
    net, seq = dense_network(3, columns=1, width=4, inputs=5), sequence(3, 9, 5)
    truth = gradients(net, seq, "bptt", form="online")
    error, where = relative_error(gradients(net, seq, "master-user-groups"), truth)
    assert error < 1e-10, where


def test_random_groups_use_every_state() -> None:
    net = dense_network(0, columns=20, width=5, inputs=10)
    counts = torch.bincount(random_owner(net)["B"].flatten(), minlength=20).double()
    assert (counts - counts.mean()).abs().max() < 5 * counts.mean().sqrt()


def test_dense_network_has_the_columnar_networks_size() -> None:
    for cell in CELLS:
        dense, columnar = dense_network(0, cell), network(0, cell, lateral="dense")
        assert dense.parameter_count == pytest.approx(columnar.parameter_count, rel=0.01)
        assert dense.columns == columnar.columns


@pytest.mark.parametrize("cell", CELLS)
def test_master_user_holds_numbers_and_no_graph(cell: str) -> None:
    """After any number of steps: one number per weight and number of state, and one more (TW) where w learns."""
    net, seq = network(0, cell, columns=3, width=2, inputs=4, lateral="dense"), sequence(0, 5, 4)
    for step_size in (None, 0.01):
        online = OnlineColumns(EstimatorName("master-user"))
        memory = online.init(net, step_size)
        for x_t, y_t in zip(seq.x, seq.y, strict=True):
            memory, step = online.step(memory, net.theta, x_t, y_t)
        traces = [*memory.e.values(), *memory.TW.values()]
        expected = net.states + (step_size is not None)
        assert sum(value.numel() for value in traces) == expected * net.parameter_count
        given = [step.prediction, step.error, step.state, *step.gradient.values()]
        assert not any(value.requires_grad for value in [*traces, memory.s, memory.w, *given])
