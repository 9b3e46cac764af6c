"""Real-time recurrent learning: the exact gradient, with the Jacobian of the state carried forward.

    M(t)  = ∂s(t)/∂θ + J(t) M(t-1)                           M: P x |θ|
    Mw(t+1) = Mw(t) + α (h ∂δᵀ + δ M_h),   ∂δ = -(w·M_h + h·Mw)      where w learns
    ĝ(t)  = δ ∂δ

Every derivative is at θ(t), so that while θ moves ĝ(t) = Σ_{s≤t} ∂L(t)/∂θ(s).

    credit     that of bptt: both are exact

Cost: |h|²|θ| operations and |h||θ| memory per step.
Reference: Williams and Zipser 1989.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from colrun.estimators.online import Memory, Online, Step, leaves, zeros
from colrun.networks.base import Network, Theta
from colrun.readout import Readout, error_tangent, w_tangent


@dataclass(frozen=True)
class JacobianMemory(Memory):
    """M and, where gradients go through LMS, Mw."""

    M: Theta
    Mw: Theta


class OnlineRTRL(Online[JacobianMemory]):
    """One backward pass per number of state for ∂s(t)/∂θ and J(t), then the product with M."""

    steady = True

    def start(self, readout: Readout) -> JacobianMemory:
        theta, s, w = readout.network.theta, readout.network.initial_state(), readout.start()
        Mw = zeros(theta, len(w)) if readout.meta else {}
        return JacobianMemory(readout, s, w, zeros(theta, s.numel()), Mw)

    def step(
        self, memory: JacobianMemory, theta: Theta, x_t: Tensor, y_t: Tensor, counted: bool = True
    ) -> tuple[JacobianMemory, Step]:
        """M forward, then the gradient of L(t), then Mw."""
        readout, w_t = memory.readout, memory.w
        theta = leaves(theta)
        s_t, local, J = self.local(readout.network, theta, x_t, memory.s)
        M = {name: local[name] + torch.tensordot(J, before, dims=1) for name, before in memory.M.items()}
        predicted = readout.predict(theta, s_t, w_t, y_t, counted)
        if not counted:
            return JacobianMemory(readout, s_t, w_t, M, memory.Mw), Step.of({}, predicted, s_t)
        delta, slope = predicted.delta.detach(), readout.slope(theta, s_t, w_t)
        gradient, Mw_tp1 = {}, {}
        seen = readout.seen(s_t) if readout.meta else None
        for name in theta:
            Mw = memory.Mw.get(name)
            d_delta = error_tangent(slope.by_state, M[name], seen, Mw)
            if name in slope.direct:
                d_delta = d_delta - slope.direct[name]
            gradient[name] = delta * d_delta
            if Mw is not None and seen is not None:
                assert readout.step_size is not None
                M_h = M[name][: len(slope.by_state)]
                Mw_tp1[name] = w_tangent(readout.step_size, Mw, seen, d_delta, delta, M_h)
        return JacobianMemory(readout, s_t, predicted.w_tp1, M, Mw_tp1), Step.of(gradient, predicted, s_t)

    def local(self, network: Network, theta: Theta, x_t: Tensor, s_tm1: Tensor) -> tuple[Tensor, Theta, Tensor]:
        """s(t), and all rows of ∂s(t)/∂θ and J(t)."""
        s_tm1 = s_tm1.detach().requires_grad_()
        s_t = network.step(theta, x_t, s_tm1)
        P = s_t.numel()
        rows = torch.eye(P, dtype=s_t.dtype).reshape(P, *s_t.shape)
        wanted = [*theta.values(), s_tm1]
        grads = torch.autograd.grad(s_t, wanted, rows, is_grads_batched=True, allow_unused=True)
        # torch would fill in what is unused without the batch dimension
        *local, J = (v.new_zeros(P, *v.shape) if g is None else g for v, g in zip(wanted, grads, strict=True))
        return s_t.detach(), dict(zip(theta, local, strict=True)), J.reshape(P, P)


ONLINE = {"rtrl": OnlineRTRL}
