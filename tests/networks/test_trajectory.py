"""The batched forward run and its Jacobian against the plain step."""

import pytest
import torch

from colrun import network, sequence
from colrun.engine.batch import Batch
from colrun.engine.trajectory import run
from colrun.networks.cells import CELLS
from tests import oracle


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
def test_states_and_jacobian(cell: str, reading: str) -> None:
    net, seq = network(9, cell, 4, 3, "80%", 5, reading), sequence(9, 5, 5)
    trajectory = run(Batch.stack([net], [seq]), 0.05)
    h = m = torch.zeros(4, dtype=torch.float64)
    w = net.w
    for t in range(5):

        def flat(state: torch.Tensor, t: int = t) -> torch.Tensor:
            parts = oracle.step(net, net.theta, seq.x[t], (state[:4], state[4:]))
            return torch.cat(parts[: net.states])

        jacobian = torch.autograd.functional.jacobian(flat, torch.cat([h, m]))  # type: ignore[no-untyped-call]
        J = jacobian[:, : 4 * net.states]
        torch.testing.assert_close(trajectory.jacobian[0, t], J, rtol=1e-12, atol=1e-14)
        h, m = oracle.step(net, net.theta, seq.x[t], (h, m))
        torch.testing.assert_close(trajectory.s[0, t + 1, 0], h, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(trajectory.w[0, t], w, rtol=1e-12, atol=1e-14)
        delta = seq.y[t] - w @ h
        torch.testing.assert_close(trajectory.delta[0, t], delta, rtol=1e-12, atol=1e-13)
        w = w + 0.05 * delta * h
    assert float(trajectory.max_error[0]) == pytest.approx(float(trajectory.delta.abs().max()))
