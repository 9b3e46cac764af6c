"""The batched forward run and its Jacobian against the plain step, from any state."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from colrun import Sequence, network, sequence
from colrun.api import as_batch
from colrun.engine import cells
from colrun.engine.batch import Batch
from colrun.engine.contract import gradient
from colrun.engine.run import Run
from colrun.networks.cells import CELLS, get_cell
from colrun.networks.columnar import ColumnarNetwork
from tests import oracle


def close(found: Any, wanted: Tensor, atol: float = 1e-14) -> None:
    np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-12, atol=atol)


def check(run: Run, net: ColumnarNetwork, seq: Sequence, h: Tensor, m: Tensor, w: Tensor) -> None:
    C = net.columns
    for t in range(seq.steps):

        def flat(state: Tensor, t: int = t) -> Tensor:
            parts = oracle.step(net, net.theta, seq.x[t], (state[:C], state[C:]))
            return torch.cat(parts[: net.states])

        jacobian = torch.autograd.functional.jacobian(flat, torch.cat([h, m]))  # type: ignore[no-untyped-call]
        close(run.J[0, t], jacobian[:, : C * net.states])
        h, m = oracle.step(net, net.theta, seq.x[t], (h, m))
        close(run.s[0, t + 1, 0], h)
        close(run.w[0, t], w)
        delta = seq.y[t] - w @ h
        close(run.delta[0, t], delta, 1e-13)
        w = w + 0.05 * delta * h


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("reading", ["text", "release"])
def test_states_and_jacobian(cell: str, reading: str) -> None:
    net, seq = network(9, cell, 4, 3, "80%", 5, reading), sequence(9, 5, 5)
    zero = torch.zeros(4, dtype=torch.float64)
    check(Run(as_batch([net], [seq]), 0.05), net, seq, zero, zero, net.w)


@pytest.mark.parametrize("cell", CELLS)
def test_from_a_given_state_with_inputs_of_any_value(cell: str) -> None:
    generator = torch.Generator().manual_seed(3)
    h, m, w = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    net = network(9, cell, 4, 3, "80%", 5)
    seq = Sequence(torch.randn(5, 5, generator=generator).double(), torch.randn(5, generator=generator).double())
    state = torch.stack([h, m][: net.states]).unsqueeze(0)
    check(Run(as_batch([net], [seq]), 0.05, state.numpy(), w.unsqueeze(0).numpy()), net, seq, h, m, w)


@pytest.mark.parametrize("cell", CELLS)
def test_the_state_of_one_run_is_where_the_next_begins(cell: str) -> None:
    net, seq = network(9, cell, 4, 3, "80%", 5), sequence(9, 8, 5)
    whole = Run(as_batch([net], [seq]), 0.05)
    later = as_batch([net], [Sequence(seq.x[3:], seq.y[3:])])
    rest = Run(later, 0.05, whole.s[:, 3], whole.w[:, 3])
    assert np.array_equal(rest.s, whole.s[:, 3:])
    assert np.array_equal(rest.w, whole.w[:, 3:])
    assert np.array_equal(rest.delta, whole.delta[:, 3:])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("step_size", [None, 0.05])
def test_a_step_that_is_not_counted_has_no_loss(cell: str, step_size: float | None) -> None:
    """By autograd: steps 2 and 5 run on, but add no loss, and w stands still at them."""
    net, seq = network(9, cell, 4, 3, "80%", 5), sequence(9, 7, 5)
    counted = np.array([[t not in (2, 5) for t in range(7)]])
    given = as_batch([net], [seq])
    masks = {name: mask.numpy()[None] for name, mask in net.masks.items()}
    arrays = {name: value.numpy()[None] for name, value in net.theta.items()}
    shown = given.layers
    batch = Batch.of(net.architecture, given.seeds, arrays, masks, shown.w, shown.x, shown.y, counted)
    run = Run(batch, step_size)
    theta = {name: value.clone().requires_grad_() for name, value in net.theta.items()}
    state: Any = torch.zeros(4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    w, total = net.w, torch.zeros((), dtype=torch.float64)
    for t in range(7):
        state = oracle.step(net, theta, seq.x[t], state)
        close(run.w[0, t], w)
        if counted[0, t]:
            delta = seq.y[t] - w @ state[0]
            total = total + 0.5 * delta**2
            w = w if step_size is None else w + step_size * delta * state[0]
    assert (run.delta[0] == 0).tolist() == (~counted[0]).tolist()
    found = {name: torch.from_numpy(value[0]) for name, value in gradient(run, run.adjoint(7), crosses=True).items()}
    grads = torch.autograd.grad(total, list(theta.values()), materialize_grads=True)
    wanted = {name: grad * net.masks[name] for name, grad in zip(theta, grads, strict=True)}
    error, where = oracle.relative_error(found, wanted)
    assert error < 1e-9, where


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize(("dtype", "bound"), [("float64", 1e-14), ("float32", 1e-6)])
def test_partials_are_those_of_the_cell(name: str, dtype: str, bound: float) -> None:
    """networks/cells holds them in torch, where autograd confirms them."""
    G, S, C = len(CELLS[name].gates), CELLS[name].states, 3
    generator = torch.Generator().manual_seed(1)
    a, r, s = (torch.randn(2, rows, C, generator=generator, dtype=torch.float64) for rows in (G, G, S))
    r = r if CELLS[name].recurrent else torch.zeros_like(r)  # as it is where there is no R
    wanted = get_cell(name).partials(a, r, s)
    s_t = torch.stack([s, get_cell(name).update(a, r, s)], dim=1)
    given = [each.numpy().astype(dtype) for each in (a.unsqueeze(1), r.unsqueeze(1), s_t)]
    by_a, by_s = np.empty((2, 1, S, G, C), dtype), np.empty((2, 1, S, S, C), dtype)
    by_r = by_a if name in cells.SAME else np.zeros_like(by_a)
    cells.partials(cells.NUMBERS[name], *given, by_a, by_r, by_s)
    for found, each in zip((by_a, by_r, by_s), wanted, strict=True):
        np.testing.assert_allclose(found[:, 0], each.numpy(), rtol=bound, atol=bound)
