"""A batch run forward by kernels, with its Jacobian and the credits of the paper's estimators."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from torch import Tensor

from colrun.compiling import Array
from colrun.engine.batch import Batch
from colrun.engine.cells import NUMBERS
from colrun.engine.forward import run as run_forward
from colrun.engine.jacobian import jacobian
from colrun.engine.laterals import laterals_of
from colrun.engine.trajectory import Trajectory
from colrun.estimators import credit_kernels as credits
from colrun.networks.cells import CELLS, get_cell


def has_kernels(batch: Batch) -> bool:
    """Whether the compiled path knows this cell."""
    return batch.architecture.cell in NUMBERS


class Compiled:
    """One batch run forward, ready to give credits."""

    def __init__(self, batch: Batch, step_size: float | None) -> None:
        self.batch, self.step_size = batch, step_size
        self.alpha = step_size or 0.0
        self.cell = batch.architecture.cell
        self.stateful = batch.architecture.sees_own_state
        self.linked = batch.architecture.recurrent
        self.laterals = laterals_of(batch)
        self._run()
        self.partials = get_cell(self.cell).partials(self.a, self.r, self.s[:, :-1])
        self.J = self._jacobian() if self.linked else self.h.new_zeros(len(batch.seeds), 1, 1, 1)

    def _run(self) -> None:
        batch, shared = self.batch, self.batch.layers
        N, T, _ = shared.x.shape
        C, W = batch.architecture.columns, batch.architecture.width
        G, S = len(CELLS[self.cell].gates), CELLS[self.cell].states
        new = shared.w.new_empty
        if self.stateful:
            z, f = shared.w.new_ones(N, C, T, W + 1), new(N, C, T, W)
        else:
            z, f = shared.stateless
        a, r, s, w, delta = new(N, T, G, C), new(N, T, G, C), new(N, T + 1, S, C), new(N, T + 1, C), new(N, T)
        s[:, 0] = 0
        w[:, 0] = shared.w
        before = (shared.pre_x, shared.A_h, shared.B_t, shared.c)
        after = (batch.R, batch.q, shared.y, z, f, a, r, s, w, delta)
        run_forward(
            NUMBERS[self.cell], self.stateful, self.alpha,
            *(tensor.numpy() for tensor in before), self.laterals, *(tensor.numpy() for tensor in after),
        )  # fmt: skip
        self.z, self.f, self.a, self.r, self.s, self.delta = z, f, a, r, s, delta
        self.h, self.h_tm1, self.w = s[:, 1:, 0].contiguous(), s[:, :-1, 0].contiguous(), w[:, :-1].contiguous()

    def _jacobian(self) -> Tensor:
        batch, shared = self.batch, self.batch.layers
        N, T, S, _, C = self.partials.by_a.shape
        J = self.h.new_empty(N, T, S * C, S * C)
        given = (self.z, self.f, shared.A_h, shared.B, J)
        jacobian(
            *(partial.contiguous().numpy() for partial in self.partials), batch.R.numpy(), self.stateful, self.laterals,
            *(tensor.numpy() for tensor in given),
        )  # fmt: skip
        return J

    @cached_property
    def trajectory(self) -> Trajectory:
        """The same run for estimators that have no kernels."""
        z, f = self.z[..., :-1].transpose(1, 2), self.f.transpose(1, 2)
        found = Trajectory(self.batch, self.step_size, z, f, self.a, self.r, self.s, self.w, self.delta)
        if self.linked:
            found.__dict__["jacobian"] = self.J  # as the cached property would keep it
        return found

    # --- credits, (N, T, P) ---

    def adjoint(self, block: int) -> Tensor:
        """bptt, and tbptt-block where `block` is below T."""
        out = self._room()
        credits.adjoint(self.J.numpy(), self.linked, *self._course(), self.alpha, block, out.numpy())
        return out

    def lagged(self, windows: list[int]) -> list[Tensor]:
        """tbptt for every window."""
        N, T, P = self._room().shape
        increasing = sorted({min(window, T) for window in windows})
        out = self.h.new_empty(N, len(increasing), T, P)
        lengths = np.array(increasing, dtype=np.int64)
        credits.lagged(self.J.numpy(), self.linked, *self._course(), self.alpha, lengths, out.numpy())
        return [out[:, increasing.index(min(window, T))] for window in windows]

    def own(self, meta: bool) -> Tensor:
        """master-user."""
        out = self._room()
        alpha = self.alpha if meta else 0.0
        credits.own(self.J.numpy(), self.linked, *self._course(), alpha, out.numpy())
        return out

    def _room(self) -> Tensor:
        N, T, C = self.h.shape
        return self.h.new_empty(N, T, CELLS[self.cell].states * C)

    def _course(self) -> Iterator[Array]:
        return (tensor.numpy() for tensor in (self.h, self.w, self.delta))
