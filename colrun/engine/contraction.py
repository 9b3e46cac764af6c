"""From a credit signal to gradients: ĝ = Σ_t Σ_i c_i(t) · ∂s_i(t)/∂θ(t).

The credit of states becomes a credit of pre-activations, layer by layer, and each layer's gradient is a sum over steps
of (credit of its pre-activation) x (its input). This is the expensive part of every estimator, and it is here once.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from colrun.engine.trajectory import Trajectory
from colrun.networks.base import Gradients
from colrun.networks.cells import CELLS


class PreactivationCredit(NamedTuple):
    """Credit of everything a weight feeds into, at every step."""

    a: Tensor
    """(N, T, G, C): of U f + q."""
    r: Tensor
    """(N, T, G, C): of R h(t-1)."""
    second: Tensor
    """(N, T, C, W): of B z + c."""
    first: Tensor
    """(N, T, C, W): of A [x; h] + b."""


def spread(trajectory: Trajectory, credit: Tensor, crosses: bool) -> PreactivationCredit:
    """Credit of pre-activations from the credit (N, T, S, C) of states.

    `crosses`: whether a column's features are also credited for what they do to the states of other columns. An
    estimator whose parameters track their own column only (Master-User) does not cross.
    """
    batch = trajectory.batch
    by_a, by_r, _ = trajectory.partials
    a = torch.einsum("ntsi,ntsgi->ntgi", credit, by_a)
    r = torch.einsum("ntsi,ntsgi->ntgi", credit, by_r)
    if crosses:
        features = torch.einsum("ntgi,ngijw->ntjw", a, batch.U)
    else:
        own = torch.diagonal(batch.U, dim1=2, dim2=3)  # (N, G, W, C)
        features = torch.einsum("ntgi,ngwi->ntiw", a, own)
    return into_columns(trajectory, a, r, features)


def into_columns(trajectory: Trajectory, a: Tensor, r: Tensor, features: Tensor) -> PreactivationCredit:
    """From the credit (N, T, C, W) of the features down through both layers; `a` and `r` are the gates'."""
    second = (trajectory.f > 0) * features
    first = (trajectory.z > 0) * torch.einsum("ntcw,ncwv->ntcv", second, trajectory.batch.layers.B)
    return PreactivationCredit(a, r, second, first)


def contract(trajectory: Trajectory, credit: PreactivationCredit) -> Gradients:
    """Gradients (N, …) by name."""
    batch = trajectory.batch
    A = torch.einsum("ntcw,nti->ncwi", credit.first, batch.layers.x)
    if batch.architecture.sees_own_state:
        own = torch.einsum("ntcw,ntc->ncw", credit.first, trajectory.h_tm1)
        A = torch.cat([A, own.unsqueeze(-1)], dim=-1)
    gradients = {
        "A": A,
        "b": credit.first.sum(1),
        "B": torch.einsum("ntcw,ntcv->ncwv", credit.second, trajectory.z),
        "c": credit.second.sum(1),
    }
    U = torch.einsum("ntgi,ntjw->ngijw", credit.a, trajectory.f)
    R = torch.einsum("ntgi,ntj->ngij", credit.r, trajectory.h_tm1)
    q = credit.a.sum(1)
    for g, gate in enumerate(CELLS[batch.architecture.cell].gates):
        gradients |= {f"U.{gate}": U[:, g], f"R.{gate}": R[:, g], f"q.{gate}": q[:, g]}
    # A masked weight does not exist, so it has no gradient; R and q exist only where the architecture has them.
    return {name: gradients[name].masked_fill(~mask, 0.0) for name, mask in batch.masks.items()}
