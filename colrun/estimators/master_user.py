"""Master-User: each weight tracks its influence on the state of its own column, and on nothing else.

    e_i(t)    = ∂h_i(t)/∂θ_i(t) + d_i(t) e_i(t-1),   d_i = ∂h_i(t)/∂h_i(t-1)                     eq. master_user
    TW_i(t+1) = (1 - α h_i(t)²) TW_i(t) + α (δ(t) - h_i(t) w_i(t)) e_i(t)                         eq. tw_update
    ĝ_i(t)    = -δ(t) (w_i(t) e_i(t) + h_i(t) TW_i(t))                                            eq. final_update

w_i(t) is the value before the update at t (the released code takes w_i(t+1)). TW exists where w learns;
`master-user-no-meta` is the same with TW = 0. For a state of two numbers e_i is a pair and d_i a 2 x 2 block.

    credit     λ_i(t) = -δ w_i + α (δ - h_i w_i) μ_i(t+1) + d_i(t+1) λ_i(t+1),   crosses no columns
               μ_i(t) = -δ h_i + (1 - α h_i²) μ_i(t+1)

Cost: O(|θ|) operations and memory per step: one backward pass with stopped gradients (section 4.1) gives all ∂h_i/∂θ_i.
Reference: Javed, White and Sutton 2021.
"""

from abc import abstractmethod

import torch
from torch import Tensor

from colrun.estimators.base import Estimator, Online, predict
from colrun.estimators.theory import Power
from colrun.networks.base import Network
from colrun.networks.columnar import ColumnarNetwork


class Traces(Online):
    """The recursions, given for every weight the index of its own state (`owner`) and a way to the local gradients."""

    def __init__(self, network: Network, step_size: float | None, owner: dict[str, Tensor], meta: bool = True) -> None:
        super().__init__(network, step_size)
        self.owner = owner
        self.meta = meta and step_size is not None
        S = network.states
        self.e = {name: value.new_zeros(S, *value.shape) for name, value in network.theta.items()}
        self.TW = {name: torch.zeros_like(value) for name, value in network.theta.items()} if self.meta else {}

    @abstractmethod
    def local(self, s_t: Tensor, s_tm1: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        """∂s_i(t)/∂θ_i as (S, …) by name, and d_i(t) as (S, S, C)."""

    def forward(self, x_t: Tensor, s_tm1: Tensor) -> Tensor:
        """s(t) with its graph."""
        return self.network.step(self.theta, x_t, s_tm1)

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Eqs. master_user, final_update and tw_update, in this order."""
        s_tm1 = self.s.detach().requires_grad_()
        s_t = self.forward(x_t, s_tm1)
        local, d = self.local(s_t, s_tm1)
        self.s = s_t.detach()
        h_t = self.s[0]
        _, delta, w_tp1 = predict(self.w, h_t, y_t, self.step_size)
        for name, owner in self.owner.items():
            e = local[name] + (d[:, :, owner] * self.e[name].unsqueeze(0)).sum(1)
            influence = self.w[owner] * e[0]
            if self.meta:
                assert self.step_size is not None
                TW, h_i, w_i = self.TW[name], h_t[owner], self.w[owner]
                influence = influence + h_i * TW
                self.TW[name] = (1 - self.step_size * h_i**2) * TW + self.step_size * (delta - h_i * w_i) * e[0]
            self.total[name] -= delta * influence
            self.e[name] = e
        self.w = w_tp1


class OnlineMasterUser(Traces):
    """Columns as groups, and one backward pass with stopped gradients for all of them (one per number of state)."""

    def __init__(self, network: Network, step_size: float | None, meta: bool = True) -> None:
        assert isinstance(network, ColumnarNetwork)
        super().__init__(network, step_size, network.owner, meta)

    def forward(self, x_t: Tensor, s_tm1: Tensor) -> Tensor:
        """Section 4.1: no gradient from one column into another."""
        return self.network.step(self.theta, x_t, s_tm1, stop_lateral=True)

    def local(self, s_t: Tensor, s_tm1: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        """From Σ_i s_i(t): with lateral gradients stopped, each θ_i and s_i(t-1) sees its own column's state only."""
        wanted = [*self.theta.values(), s_tm1]
        rows = [torch.autograd.grad(s_k.sum(), wanted, retain_graph=True, materialize_grads=True) for s_k in s_t]
        *local, d = (torch.stack(row) for row in zip(*rows, strict=True))
        return dict(zip(self.theta, local, strict=True)), d


class MasterUser(Estimator):
    """With the meta-gradient or without it."""

    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(parameters=1)
    needs_columns = True

    def __init__(self, meta: bool) -> None:
        self.meta = meta

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """Traces by column."""
        return OnlineMasterUser(network, step_size, self.meta)


def own_credit(h: Tensor, w: Tensor, delta: Tensor, d: Tensor, alpha: float | None) -> Tensor:
    """λ_i(t) as (N, T, S, C) from h, w (N, T, C), δ (N, T) and d (N, T, S, S, C); α is None for no meta-gradient."""
    N, T, S, _, C = d.shape
    delta = delta.unsqueeze(-1)
    credit = h.new_zeros(N, T, S, C)
    credit[:, :, 0] = -delta * w
    mu = torch.zeros_like(w[:, 0])
    for t in reversed(range(T)):
        if t + 1 < T:
            credit[:, t] += torch.einsum("nklc,nkc->nlc", d[:, t + 1], credit[:, t + 1])
        if alpha is not None:
            credit[:, t, 0] += alpha * (delta[:, t] - h[:, t] * w[:, t]) * mu
            mu = -delta[:, t] * h[:, t] + (1 - alpha * h[:, t] ** 2) * mu
    return credit


ESTIMATORS = {"master-user": MasterUser(meta=True), "master-user-no-meta": MasterUser(meta=False)}
