"""Random feedback local online learning: a trace with the state's own leak, and a fixed random way back for the error.

Murray's network is h_i(t) = (1 - 1/τ) h_i(t-1) + (1/τ) φ(…), and his rule drops from rtrl's recursion all that goes
through recurrent weights, and from the error's way back the readout weights:

    e_i(t) = ∂s_i(t)/∂θ_i + ℓ_i(t) e_i(t-1),   ℓ_i: ∂s_i(t)/∂s_i(t-1) at fixed pre-activations, the leak
    ĝ_i(t) = -δ(t) b_i e_i(t)                    b_i in place of w_i; e_i on the right is that of h_i

In these cells the leak is 1 (additive), the update gate (gru, mgu), or the 2 x 2 block of the pair (lstm); it leaves
out R_ii and the column's view of its own state, which Master-User's d_i has. The feedforward cell has none: what is
left there is no longer this method, and it is refused.

b is drawn once per network as w(0) is, N(0, 0.1²), from a stream of its own, and never learns. It agrees in sign with w
on half of the columns, so at w(0) half of the signs are wrong by design: learning is to align w with b. Hence
`rflo-symmetric`, the same with b = w(t): what the trace alone is worth.

The published network has one layer. Here two more lie below each state, and e_i is taken for them too, by the chain
rule within column i, as Master-User does: then the two methods differ by the leak and the feedback only. Where w
learns, the rule takes its δ(t) and does not differentiate through it.

    credit     c_i(t) = -δ b_i + ℓ_i(t+1)ᵀ c_i(t+1),   crosses no columns

Cost: O(|θ|) operations and memory per step.
Reference: Murray 2019.
"""

import torch
from torch import Tensor

from colrun.estimators.base import Estimator, Online, predict
from colrun.estimators.master_user import OnlineMasterUser
from colrun.estimators.theory import Power
from colrun.networks.base import Network
from colrun.networks.cells import get_cell
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.draw import initial_w


def random_feedback(seed: int, columns: int) -> Tensor:
    """b of a network, in float64."""
    return torch.from_numpy(initial_w(seed, columns, "rflo.feedback"))


class OnlineRFLO(OnlineMasterUser):
    """One trace per weight; local gradients from one backward pass with stopped gradients."""

    def __init__(self, network: Network, step_size: float | None, symmetric: bool) -> None:
        assert isinstance(network, ColumnarNetwork)
        super().__init__(network, step_size, meta=False)
        self.columnar = network
        self.feedback = None if symmetric else random_feedback(network.seed, network.columns).to(network.w.dtype)

    def step(self, x_t: Tensor, y_t: Tensor) -> None:
        """Traces with the leak, then the error times feedback times trace."""
        s_tm1 = self.s.detach().requires_grad_()
        layered = self.columnar.layers(self.theta, x_t, s_tm1, stop_lateral=True)
        cell = get_cell(self.network.architecture.cell)
        local, _ = self.local(layered.s, s_tm1)
        leak = cell.partials(layered.a.detach(), layered.r.detach(), s_tm1.detach()).by_s
        self.s = layered.s.detach()
        _, delta, w_tp1 = predict(self.w, self.s[0], y_t, self.step_size)
        feedback = self.w if self.feedback is None else self.feedback
        for name, owner in self.owner.items():
            self.e[name] = local[name] + (leak[:, :, owner] * self.e[name].unsqueeze(0)).sum(1)
            self.total[name] -= delta * feedback[owner] * self.e[name][0]
        self.w = w_tp1


class RFLO(Estimator):
    """With random feedback, as published, or with w."""

    takes_lists = True
    operations = Power(parameters=1)
    memory = Power(parameters=1)
    needs_columns = True

    def __init__(self, symmetric: bool) -> None:
        self.symmetric = symmetric

    def online(self, network: Network, step_size: float | None, window: int | None) -> Online:  # noqa: ARG002
        """Traces by column."""
        return OnlineRFLO(network, step_size, self.symmetric)


ESTIMATORS = {"rflo": RFLO(symmetric=False), "rflo-symmetric": RFLO(symmetric=True)}
