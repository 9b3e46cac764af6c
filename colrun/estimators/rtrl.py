"""Real-time recurrent learning: the exact gradient, with the Jacobian of the state carried forward.

    M(t)  = ∂s(t)/∂θ + J(t) M(t-1)                           M: P x |θ|
    Mw(t+1) = Mw(t) + α (h ∂δᵀ + δ M_h),   ∂δ = -(w·M_h + h·Mw)      where w learns
    ĝ(t)  = δ ∂δ

    credit     that of bptt: both are exact

Cost: |h|²|θ| operations and |h||θ| memory per step.
Reference: Williams and Zipser 1989.
"""

import torch
from torch import Tensor

from colrun.estimators.base import Online, predict
from colrun.estimators.bptt import BPTT
from colrun.networks.base import Network


class OnlineRTRL(Online):
    """One backward pass per number of state for ∂s(t)/∂θ and J(t), then the product with M."""

    def __init__(self, network: Network, step_size: float | None) -> None:
        super().__init__(network, step_size)
        P, C = self.s.numel(), network.columns
        self.M = {name: value.new_zeros(P, *value.shape) for name, value in network.theta.items()}
        learns = step_size is not None
        self.Mw = {name: value.new_zeros(C, *value.shape) for name, value in network.theta.items()} if learns else {}

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """M forward, then the gradient of L(t)."""
        C = self.network.columns
        s_tm1 = self.s.detach().requires_grad_()
        s_t = self.network.step(self.theta, x_t, s_tm1)
        P = s_t.numel()
        rows = torch.eye(P, dtype=s_t.dtype).reshape(P, *s_t.shape)
        wanted = [*self.theta.values(), s_tm1]
        grads = torch.autograd.grad(s_t, wanted, rows, is_grads_batched=True, allow_unused=True)
        # torch would fill in what is unused without the batch dimension
        *local, J = (v.new_zeros(P, *v.shape) if g is None else g for v, g in zip(wanted, grads, strict=True))
        J = J.reshape(P, P)
        self.s = s_t.detach()
        h_t = self.s[0]
        _, delta, w_tp1 = predict(self.w, h_t, y_t, self.step_size)
        for name, local_grad in zip(self.theta, local, strict=True):
            M = local_grad + torch.tensordot(J, self.M[name], dims=1)
            M_h = M[:C]
            d_delta = -torch.tensordot(self.w, M_h, dims=1)
            if self.step_size is not None:
                Mw = self.Mw[name]
                d_delta = d_delta - torch.tensordot(h_t, Mw, dims=1)
                h_d_delta = torch.tensordot(h_t.unsqueeze(-1), d_delta.unsqueeze(0), dims=1)
                self.Mw[name] = Mw + self.step_size * (h_d_delta + delta * M_h)
            self.total[name] += delta * d_delta
            self.M[name] = M
        self.w = w_tp1


class RTRL(BPTT):
    """The credit form is bptt's."""

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """The full Jacobian."""
        return OnlineRTRL(network, step_size)


ESTIMATORS = {"rtrl": RTRL()}
