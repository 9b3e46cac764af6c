"""A batch of columnar networks run forward over their sequences, with everything that credits need kept.

Shapes: N networks, T steps, C columns, W width, G gates, S numbers of state, P = S·C. Index t of an array over steps is
step t+1 of the paper, so `s[:, t]` is the state before and `s[:, t+1]` the state after that step.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from colrun.engine.batch import Batch
from colrun.engine.grams import Grams, input_grams
from colrun.networks.cells import CELLS, get_cell
from colrun.networks.cells.base import Partials


@dataclass(frozen=True)
class Trajectory:
    """What happened: activations, states, prediction weights and errors of every step."""

    batch: Batch
    step_size: float | None
    z: Tensor
    """(N, T, C, W)"""
    f: Tensor
    """(N, T, C, W)"""
    a: Tensor
    """(N, T, G, C)"""
    r: Tensor
    """(N, T, G, C)"""
    s: Tensor
    """(N, T+1, S, C)"""
    w: Tensor
    """(N, T, C): w before the update of that step."""
    delta: Tensor
    """(N, T)"""

    @property
    def steps(self) -> int:
        """T."""
        return self.delta.shape[1]

    @property
    def h(self) -> Tensor:
        """(N, T, C): h after each step."""
        return self.s[:, 1:, 0]

    @property
    def h_tm1(self) -> Tensor:
        """(N, T, C): h before each step."""
        return self.s[:, :-1, 0]

    @property
    def max_error(self) -> Tensor:
        """(N,): max_t |δ(t)|."""
        return self.delta.abs().amax(dim=1)

    @cached_property
    def partials(self) -> Partials:
        """Local derivatives of the cell at every step."""
        return get_cell(self.batch.architecture.cell).partials(self.a, self.r, self.s[:, :-1])

    @cached_property
    def jacobian(self) -> Tensor:
        """(N, T, P, P): J(t) = ∂s(t)/∂s(t-1), states in the order h_1 … h_C, m_1 … m_C."""
        batch = self.batch
        return jacobian(self.partials, batch.U, batch.R, batch.layers.A_h, batch.layers.B, self.z, self.f)

    @cached_property
    def own_jacobian(self) -> Tensor:
        """(N, T, S, S, C): d_i(t) = ∂s_i(t)/∂s_i(t-1), the diagonal blocks of J(t)."""
        N, T, P, _ = self.jacobian.shape
        C = self.batch.architecture.columns
        blocks = self.jacobian.reshape(N, T, P // C, C, P // C, C)
        return torch.diagonal(blocks, dim1=3, dim2=5)

    @cached_property
    def grams(self) -> Grams:
        """Inner products of what weights multiply, step against step."""
        return input_grams(self)


def jacobian(partials: Partials, U: Tensor, R: Tensor, A_h: Tensor, B: Tensor, z: Tensor, f: Tensor) -> Tensor:
    """J(t), (N, T, P, P).

    h_j(t-1) enters all columns by R and its own column as one scalar, so one tangent ∂f_j(t)/∂h_j(t-1) per column and
    one product with U give the rest.
    """
    by_a, by_r, by_s = partials
    tangent = (z > 0) * A_h.unsqueeze(1)
    tangent = (f > 0) * torch.einsum("ncwv,ntcv->ntcw", B, tangent)
    through_features = torch.einsum("ngijw,ntjw->ntgij", U, tangent)
    by_h = torch.einsum("ntsgi,ntgij->ntsij", by_a, through_features)
    by_h = by_h + torch.einsum("ntsgi,ngij->ntsij", by_r, R)
    N, T, S, _, C = by_s.shape
    J = torch.diag_embed(by_s).transpose(3, 4).contiguous()  # (N, T, S, C, S, C): the direct path
    J[:, :, :, :, 0] += by_h
    return J.reshape(N, T, S * C, S * C)


def run(batch: Batch, step_size: float | None = None) -> Trajectory:
    """Run every network of the batch over its sequence; `step_size` is α of the learning w, None where w is fixed."""
    cell = get_cell(batch.architecture.cell)
    layers = batch.layers
    N, T, _ = layers.x.shape
    C = batch.architecture.columns
    S = CELLS[batch.architecture.cell].states
    from_x = torch.einsum("ncwi,nti->ntcw", layers.A_x, layers.x) + layers.b.unsqueeze(1)
    s_t = layers.w.new_zeros(N, S, C)
    w_t = layers.w
    states: list[Tensor] = [s_t]
    kept: list[tuple[Tensor, ...]] = []
    for t in range(T):
        h_tm1 = s_t[:, 0]
        z_t = torch.relu(from_x[:, t] + layers.A_h * h_tm1.unsqueeze(-1))
        f_t = torch.relu(torch.einsum("ncwv,ncv->ncw", layers.B, z_t) + layers.c)
        a_t = torch.einsum("ngijw,njw->ngi", batch.U, f_t) + batch.q
        r_t = torch.einsum("ngij,nj->ngi", batch.R, h_tm1)
        s_t = cell.update(a_t, r_t, s_t)
        delta = layers.y[:, t] - (w_t * s_t[:, 0]).sum(-1)
        kept.append((z_t, f_t, a_t, r_t, w_t, delta))
        states.append(s_t)
        if step_size is not None:
            w_t = w_t + step_size * delta.unsqueeze(-1) * s_t[:, 0]
    z, f, a, r, w, deltas = (torch.stack(values, dim=1) for values in zip(*kept, strict=True))
    return Trajectory(batch, step_size, z, f, a, r, torch.stack(states, dim=1), w, deltas)
