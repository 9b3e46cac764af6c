"""Sparse n-step approximation: rtrl that keeps, of the influence matrix, what a parameter reaches within k steps.

    M(t) = P ⊙ (∂s(t)/∂θ + J(t) M(t-1))             P: the states reached within k steps (reach.py), by group of θ
    Mw(t+1) = Pw ⊙ (Mw(t) + α (h ∂δᵀ + δ M_h)),   ∂δ = -(w·M_h + h·Mw)                        where w learns
    ĝ(t) = δ ∂δ

The published method has no learning w. Here w_j belongs to the node of state j, and within one more step δ(t), which
every state enters, reaches all of w: Pw = P for k = 1, and all of w for k ≥ 2. So `snap-1` is Master-User where no
column's features reach another, and a k at which nothing new is reached is rtrl, learning w or not. J and ∂s/∂θ
are those of θ(t), and M is carried on while θ moves.

    credit     c^g(t) = λ^g(t) for each group g, the exact adjoint of adjoint.py kept to its sets at every step:
               λ^g = P_g ⊙ (-δ w + α δ μ - α w (h·μ) + J(t+1)ᵀ λ^g(t+1)),   μ^g = Pw_g ⊙ (-δ h + μ - α h (h·μ))
               u_i takes c^{u_i}_i, and the features of column i take Σ_j c^{φ_i}_j ∂s_j/∂f_i

Cost: Σ_g |P_g||θ_g| memory and Σ_g |P_g|²|θ_g| operations per step: |θ| where every set is one state, up to rtrl's.
At a fixed lateral ratio |P_g| does not depend on C, so both are linear in |θ| ∝ C. Where w learns and k ≥ 2, C|θ| more
of both.
Reference: Menick, Elsen, Evci, Osindero, Simonyan and Graves 2021.
"""

from collections.abc import Sequence as Several

import torch
from torch import Tensor

from colrun.estimators.base import Estimator
from colrun.estimators.reach import tracked
from colrun.estimators.snap_online import OnlineSnAp
from colrun.estimators.theory import Power
from colrun.networks.base import Gradients
from colrun.networks.contraction import contract, into_columns
from colrun.networks.trajectory import Trajectory


class SnAp(Estimator):
    """`window` is the order k."""

    needs_columns = True
    takes_lists = True
    operations = Power(parameters=1, reached=2, window=None)
    memory = Power(parameters=1, reached=1, window=None)

    def gradients(self, trajectory: Trajectory, windows: Several[int | None]) -> list[Gradients]:
        """Credits of all orders in one pass back, then one contraction for each."""
        batch = trajectory.batch
        orders = [window for window in windows if window is not None]
        sets = tracked(batch.architecture, batch.masks, orders)
        by_a, by_r, _ = trajectory.partials
        found: dict[int, Gradients] = {}
        for order, here in zip(orders, sets, strict=True):
            if order in found:
                continue
            own, features = group_credits(trajectory, here, order)
            a = torch.einsum("ntsi,ntsgi->ntgi", own, by_a)
            r = torch.einsum("ntsi,ntsgi->ntgi", own, by_r)
            a_of_features = torch.einsum("ntisj,ntsgj->ntigj", features, by_a)
            credit_of_features = torch.einsum("ntigj,ngjiw->ntiw", a_of_features, batch.U)
            found[order] = contract(trajectory, into_columns(trajectory, a, r, credit_of_features))
        return [found[order] for order in orders]


def group_credits(trajectory: Trajectory, sets: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """c^{u_i}_i as (N, T, S, C), and c^{φ_i} as (N, T, C, S, C), from the sets (N, 2, C, C) of u and φ."""
    h, w, alpha = trajectory.h, trajectory.w, trajectory.step_size
    N, T, C = h.shape
    S = trajectory.s.shape[2]
    delta = trajectory.delta.unsqueeze(-1)
    groups = sets.reshape(N, 2 * C, C)
    kept = groups.repeat(1, 1, S).to(h.dtype)
    kept_w = groups.to(h.dtype) if order == 1 else h.new_ones(N, 1, 1)
    lam, mu = h.new_zeros(N, 2 * C, S * C), h.new_zeros(N, 2 * C, C)
    own, features = h.new_empty(N, T, S, C), h.new_empty(N, T, C, S * C)
    for t in reversed(range(T)):
        if t + 1 < T:
            lam = torch.bmm(lam, trajectory.jacobian[:, t + 1])
        lam_h = lam[..., :C]
        lam_h -= (delta[:, t] * w[:, t]).unsqueeze(1)
        if alpha is not None:
            h_t, h_mu = h[:, t].unsqueeze(1), torch.einsum("nqc,nc->nq", mu, h[:, t]).unsqueeze(-1)
            lam_h += alpha * (delta[:, t].unsqueeze(1) * mu - w[:, t].unsqueeze(1) * h_mu)
            mu = (mu - h_t * (delta[:, t].unsqueeze(1) + alpha * h_mu)) * kept_w
        lam *= kept
        own[:, t] = torch.diagonal(lam[:, :C].reshape(N, C, S, C), dim1=1, dim2=3)
        features[:, t] = lam[:, C:]
    return own, features.reshape(N, T, C, S, C)


ONLINE = {"snap": OnlineSnAp}
ESTIMATORS = {"snap": SnAp()}
