"""A batch run forward over its sequences, with everything that credits need."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from colrun.compiling import Array
from colrun.engine.adjoint import adjoint
from colrun.engine.batch import Batch
from colrun.engine.cells import NUMBERS, SAME, partials
from colrun.engine.forward import run
from colrun.engine.grams import Grams, input_grams
from colrun.engine.jacobian import jacobian
from colrun.engine.laterals import laterals_of
from colrun.networks.cells import CELLS


class Partials(NamedTuple):
    """Local derivatives of a column's new state, at fixed other arguments."""

    by_a: Array
    """(N, T, S, G, C): ∂s(t)/∂a, a = U f + q"""
    by_r: Array
    """(N, T, S, G, C): ∂s(t)/∂r, r = R h(t-1)"""
    by_s: Array
    """(N, T, S, S, C): ∂s(t)/∂s(t-1), the direct path only: not through a or r"""


class Run:
    """What happened to N networks over T steps: activations, states, prediction weights, errors and Jacobians."""

    def __init__(
        self, batch: Batch, step_size: float | None = None, state: Array | None = None, w: Array | None = None
    ) -> None:
        """`step_size` is α of the learning w, None where w is fixed.

        The networks start from s(0) = `state`, (N, S, C), by default 0, and w(0) = `w`, (N, C), by default their own.
        """
        self.batch, self.step_size = batch, step_size
        self.cell = batch.architecture.cell
        self.stateful = batch.architecture.sees_own_state
        self.linked = batch.architecture.recurrent
        """Whether J is not zero."""
        self.laterals = laterals_of(batch)
        self.learns = step_size is not None
        self.rate = (step_size or 0.0) * batch.layers.counted
        """(N, T): α of every step, 0 where w stands still"""
        with np.errstate(all="ignore"):  # a network may diverge
            self._forward(state, batch.layers.w if w is None else w)
        self.partials = self._partials()
        self.J = self._jacobian()
        """(N, T, P, P): J(t) = ∂s(t)/∂s(t-1), states in the order h_1 … h_C, m_1 … m_C"""

    def _forward(self, state: Array | None, w_0: Array) -> None:
        batch, shared = self.batch, self.batch.layers
        N, T, _ = shared.x.shape
        C, W = batch.architecture.columns, batch.architecture.width
        G, S = len(CELLS[self.cell].gates), CELLS[self.cell].states
        dtype = shared.w.dtype
        if self.stateful:
            self.z, self.f = np.ones((N, C, T, W + 1), dtype), np.empty((N, C, T, W), dtype)
        else:
            self.z, self.f = shared.stateless
        self.a, self.r = np.empty((N, T, G, C), dtype), np.empty((N, T, G, C), dtype)
        self.s, w, self.delta = (
            np.empty((N, T + 1, S, C), dtype),
            np.empty((N, T + 1, C), dtype),
            np.empty((N, T), dtype),
        )
        self.s[:, 0] = 0.0 if state is None else state
        w[:, 0] = w_0
        run(
            NUMBERS[self.cell], self.stateful, self.step_size or 0.0,
            shared.pre_x, shared.A_h, shared.B_t, shared.c, self.laterals,
            batch.R, batch.q, shared.y, shared.counted, self.z, self.f, self.a, self.r, self.s, w, self.delta,
        )  # fmt: skip
        self.h, self.h_tm1 = (np.ascontiguousarray(each) for each in (self.s[:, 1:, 0], self.s[:, :-1, 0]))
        self.w = np.ascontiguousarray(w[:, :-1])
        """(N, T, C): w before the update of that step"""

    def _partials(self) -> Partials:
        N, T, G, C = self.a.shape
        S = self.s.shape[2]
        by_a, by_s = np.empty((N, T, S, G, C), self.a.dtype), np.empty((N, T, S, S, C), self.a.dtype)
        by_r = by_a if self.cell in SAME else np.zeros_like(by_a)
        partials(NUMBERS[self.cell], self.a, self.r, self.s, by_a, by_r, by_s)
        return Partials(by_a, by_r, by_s)

    def _jacobian(self) -> Array:
        shared = self.batch.layers
        N, T, P = self.shape
        if not self.linked:
            return np.zeros((N, T, P, P), self.h.dtype)
        J = np.empty((N, T, P, P), self.h.dtype)
        jacobian(
            *self.partials, self.batch.R, self.stateful, self.laterals, self.z, self.f, shared.A_h, shared.B, J
        )  # fmt: skip
        return J

    @property
    def shape(self) -> tuple[int, int, int]:
        """N, T, P: that of a credit of states."""
        N, T, C = self.h.shape
        return N, T, self.s.shape[2] * C

    @cached_property
    def own_jacobian(self) -> Array:
        """(N, T, S, S, C): d_i(t) = ∂s_i(t)/∂s_i(t-1), the diagonal blocks of J(t)."""
        N, T, C = self.h.shape
        S = self.s.shape[2]
        return np.ascontiguousarray(np.diagonal(self.J.reshape(N, T, S, C, S, C), axis1=3, axis2=5))

    @cached_property
    def grams(self) -> Grams:
        """Inner products of what weights multiply, step against step."""
        return input_grams(self)

    @cached_property
    def truth(self) -> Array:
        """The exact credit of states."""
        return self.adjoint(self.shape[1])

    def adjoint(self, block: int) -> Array:
        """The exact credit of states, (N, T, P), of losses within the same block of `block` steps from the first."""
        out = np.empty(self.shape, self.h.dtype)
        adjoint(self.J, self.linked, self.h, self.w, self.delta, self.learns, self.rate, block, out)
        return out
