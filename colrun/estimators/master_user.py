"""Master-User: each weight tracks its influence on the state of its own column, and on nothing else.

    e_i(t)    = ∂h_i(t)/∂θ_i(t) + d_i(t) e_i(t-1),   d_i = ∂h_i(t)/∂h_i(t-1)                     eq. master_user
    TW_i(t+1) = (1 - α h_i(t)²) TW_i(t) + α (δ(t) - h_i(t) w_i(t)) e_i(t)                         eq. tw_update
    ĝ_i(t)    = -δ(t) (w_i(t) e_i(t) + h_i(t) TW_i(t))                                            eq. final_update

w_i(t) is the value before the update at t (the released code takes w_i(t+1)). TW exists where w learns;
`master-user-no-meta` is the same with TW = 0. For a state of two numbers e_i is a pair and d_i a 2 x 2 block. Every
derivative is at θ(t); e and TW are carried on while θ moves. A bias w_0 of the readout is left out of TW.

    credit     λ_i(t) = -δ w_i + α (δ - h_i w_i) μ_i(t+1) + d_i(t+1) λ_i(t+1),   crosses no columns
               μ_i(t) = -δ h_i + (1 - α h_i²) μ_i(t+1)

Cost: O(|θ|) operations and memory per step: one backward pass with stopped gradients (section 4.1) gives all ∂h_i/∂θ_i.
Reference: Javed, White and Sutton 2021.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from colrun.estimators.legacy import OnlineMasterUser as OnlineMasterUser  # for plug-ins written for version 0.1
from colrun.estimators.online import Memory, Online, Step, leaves, zeros
from colrun.networks.base import Theta
from colrun.networks.columnar import ColumnarNetwork
from colrun.readout import Readout, own_w_tangent

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class TraceMemory(Memory):
    """e and, where gradients go through LMS, TW; `owner` is the index of each weight's own state."""

    owner: dict[str, Tensor]
    e: Theta
    TW: Theta


T = TypeVar("T", bound=TraceMemory)


class OnlineTraces(Online[T]):
    """The recursions, given whose each weight is and a way to the local gradients."""

    steady = True

    @abstractmethod
    def local(self, memory: T, theta: Theta, x_t: Tensor) -> tuple[Tensor, Theta, Tensor]:
        """s(t), ∂s_i(t)/∂θ_i as (S, …) by name, and d_i(t) as (S, S, C)."""

    def way_back(self, memory: T, by_state: Tensor) -> Tensor:  # noqa: ARG002
        """How much of the error each state answers for."""
        return by_state

    def step(self, memory: T, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True) -> tuple[T, Step]:
        """Eqs. master_user, final_update and tw_update, in this order."""
        readout, w_t = memory.readout, memory.w
        theta = leaves(theta)
        s_t, local, d = self.local(memory, theta, x_t)
        e = {
            name: local[name] + (d[:, :, owner] * memory.e[name].unsqueeze(0)).sum(1)
            for name, owner in memory.owner.items()
        }
        predicted = readout.predict(theta, s_t, w_t, y_t, counted)
        if not counted:
            return replace(memory, s=s_t, e=e), Step.of({}, predicted, s_t)
        delta, slope = predicted.delta.detach(), readout.slope(theta, s_t, w_t)
        minus_delta, columns = -delta, s_t.shape[-1]
        on_error = by_rows(self.way_back(memory, slope.by_state), columns)
        gradient, TW_tp1 = {}, {}
        for name, owner in memory.owner.items():
            influence = on_error[0][owner] * e[name][0]
            for row, e_k in zip(on_error[1:], e[name][1:], strict=False):  # where y sees more than h
                influence = influence + row[owner] * e_k
            if name in memory.TW:
                assert readout.step_size is not None
                TW, h_i = memory.TW[name], by_rows(readout.network.h(s_t), columns)[0][owner]
                influence = influence + h_i * TW
                w_i = on_error[0][owner]
                TW_tp1[name] = own_w_tangent(readout.step_size, TW, h_i, w_i, delta, e[name][0])
            if name in slope.direct:
                influence = influence + slope.direct[name]
            gradient[name] = minus_delta * influence
        after = replace(memory, s=s_t, w=predicted.w_tp1.detach(), e=e, TW=TW_tp1)
        return after, Step.of(gradient, predicted, s_t)


def by_rows(values: Tensor, columns: int) -> Tensor:
    """The first numbers of a state of (S, C) in its rows, with zeros after them."""
    missing = -len(values) % columns
    whole = torch.nn.functional.pad(values, (0, missing)) if missing else values
    return whole.reshape(-1, columns)


class OnlineColumns(OnlineTraces[TraceMemory]):
    """Columns as groups, and one backward pass with stopped gradients for all of them (one per number of state)."""

    needs_columns = True

    def start(self, readout: Readout) -> TraceMemory:
        network = readout.network
        assert network.owner is not None
        return begin(readout, network.owner)

    def local(self, memory: TraceMemory, theta: Theta, x_t: Tensor) -> tuple[Tensor, Theta, Tensor]:
        """Section 4.1: no gradient from one column into another."""
        network, s_tm1 = memory.readout.network, memory.s.detach().requires_grad_()
        assert isinstance(network, ColumnarNetwork)
        s_t = network.step(theta, x_t, s_tm1, stop_lateral=True)
        return s_t.detach(), *within_columns(theta, s_t, s_tm1)


class OnlineColumnsNoMeta(OnlineColumns):
    """Never through LMS."""

    def start(self, readout: Readout) -> TraceMemory:
        return super().start(replace(readout, meta=False))


def begin(readout: Readout, owner: dict[str, Tensor]) -> TraceMemory:
    """All traces 0."""
    theta, s = readout.network.theta, readout.network.initial_state()
    TW = zeros(theta) if readout.meta else {}
    return TraceMemory(readout, s, readout.start(), owner, zeros(theta, len(s)), TW)


def within_columns(theta: Theta, s_t: Tensor, s_tm1: Tensor) -> tuple[Theta, Tensor]:
    """From Σ_i s_i(t): with lateral gradients stopped, each θ_i and s_i(t-1) sees its own column's state only."""
    wanted = [*theta.values(), s_tm1]
    rows = [torch.autograd.grad(s_k.sum(), wanted, retain_graph=True, materialize_grads=True) for s_k in s_t]
    *local, d = (torch.stack(row) for row in zip(*rows, strict=True))
    return dict(zip(theta, local, strict=True)), d


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


ONLINE = {"master-user": OnlineColumns, "master-user-no-meta": OnlineColumnsNoMeta}
