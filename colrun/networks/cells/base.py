"""What a cell must offer. Cells work elementwise over columns, so that leading dimensions (networks, steps) are free.

Shapes, with G gates, S numbers of state and C columns:

    a    (..., G, C)     U f(t) + bias of each gate
    r    (..., G, C)     R h(t-1) of each gate (zero where the cell has no recurrence)
    s    (..., S, C)     state; s[..., 0, :] is h, which columns and the prediction see
"""

from typing import NamedTuple, Protocol

from torch import Tensor


class Partials(NamedTuple):
    """Local derivatives of a column's new state, at fixed other arguments."""

    by_a: Tensor
    """(..., S, G, C): ∂s(t)/∂a."""
    by_r: Tensor
    """(..., S, G, C): ∂s(t)/∂r."""
    by_s: Tensor
    """(..., S, S, C): ∂s(t)/∂s(t-1), the direct path only: not through a or r."""


class Cell(Protocol):
    """One recurrent cell."""

    def update(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Tensor:
        """s(t)."""

    def partials(self, a: Tensor, r: Tensor, s_tm1: Tensor) -> Partials:
        """Derivatives of `update`, which the tests check against autograd."""
