"""The closed-form derivatives of every cell against autograd."""

import pytest
import torch
from torch import Tensor

from colrun.networks.cells import CELLS, get_cell


@pytest.mark.parametrize("name", CELLS)
def test_partials_are_the_derivatives_of_update(name: str) -> None:
    entry, cell = CELLS[name], get_cell(name)
    G, S, C = len(entry.gates), entry.states, 3
    generator = torch.Generator().manual_seed(1)

    def draw(rows: int) -> Tensor:
        return torch.randn(2, rows, C, generator=generator, dtype=torch.float64)

    a, r, s = draw(G), draw(G), draw(S)
    found = cell.partials(a, r, s)
    for n in range(2):  # leading dimensions are free; autograd takes them one by one

        def update(a: Tensor, r: Tensor, s: Tensor) -> Tensor:
            return cell.update(a, r, s)

        wanted = torch.autograd.functional.jacobian(update, (a[n], r[n], s[n]))  # type: ignore[no-untyped-call]
        for partial, jacobian in zip(found, wanted, strict=True):
            # jacobian: (S, C, rows, C) with zeros between columns
            between = jacobian.diagonal(dim1=1, dim2=3)
            torch.testing.assert_close(partial[n], between, rtol=1e-12, atol=1e-15)
            assert jacobian.abs().sum().item() == pytest.approx(between.abs().sum().item())
