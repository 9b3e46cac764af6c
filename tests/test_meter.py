"""The meter on computations whose cost is known by hand."""

import pytest
import torch
from torch import Tensor

from colrun.experiments.cost.meter import Meter, UncountedOperationError


def counted(*kinds: int) -> dict[str, int]:
    return dict(zip(("products", "elementwise", "reductions", "copies"), kinds, strict=True))


def test_operations_by_kind() -> None:
    a, b, c = torch.ones(3, 4), torch.ones(4, 5), torch.ones(7, 4, 5)
    index = torch.tensor([0, 0, 2])
    with Meter() as meter:
        product = a @ b
    assert meter.counts == counted(2 * 3 * 4 * 5, 0, 0, 0)
    with Meter() as meter:
        torch.bmm(c, c.mT)
        a @ b[:, 0]
        torch.addmm(product, a, b)
    assert meter.counts == counted(2 * 7 * 4 * 5 * 4 + 2 * 3 * 4 + 2 * 3 * 4 * 5, 0, 0, 0)
    with Meter() as meter:
        torch.tanh(a) * 2 + a
        product.sum(0)
        a.T.unsqueeze(0).expand(9, 4, 3)
        torch.zeros(6)
        a.clone()
        a[index]
        torch.zeros(3).index_add(0, index, torch.ones(3))
    assert meter.counts == counted(0, 3 * 12, 15 + 6, 6 + 12 + 12 + 3 + 3)
    assert meter.operations == 36 + 21


def test_backward_passes_and_batches_are_seen_at_full_size() -> None:
    A, x = torch.ones(3, 4, requires_grad=True), torch.ones(4, requires_grad=True)
    y = A @ x
    with Meter() as meter:
        torch.autograd.grad(y, [A, x], torch.eye(3), is_grads_batched=True)
    # Of each of 3 rows: an outer product for A and a product with A for x.
    assert meter.operations in (3 * 12 + 3 * 2 * 12, 3 * 2 * 12 + 3 * 2 * 12)


def test_an_unknown_operation_is_refused() -> None:
    with Meter(), pytest.raises(UncountedOperationError, match="linalg"):
        torch.linalg.eigh(torch.eye(3))


class Holder:
    def __init__(self) -> None:
        self.kept: list[Tensor] = []
        self.given = torch.from_numpy(torch.zeros(11).numpy())


def test_held_counts_what_lives_and_nothing_twice() -> None:
    holder, weight = Holder(), torch.ones(5, requires_grad=True)
    with Meter() as meter:
        assert meter.held(holder) == 4 * 11  # what no operation made hangs on the holder
        values = torch.ones(100) * 2
        holder.kept = [values, values[:50], values.view(10, 10)]
        del values
        assert meter.held(holder) == 4 * (11 + 100)
        holder.kept = [holder.kept[1]]  # a view keeps the whole
        assert meter.held(holder) == 4 * (11 + 100)
        holder.kept = []
        assert meter.held(holder) == 4 * 11
        doubled = (weight * 3).exp()
        holder.kept = [doubled.sum()]
        del doubled
        assert meter.held(holder) == 4 * (11 + 5 + 1)  # exp keeps its result for the backward pass
        assert meter.held(holder, without=[holder.given]) == 4 * (5 + 1)
