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

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from colrun.estimators.master_user import OnlineTraces, TraceMemory, begin, within_columns
from colrun.networks.base import Theta
from colrun.networks.cells import get_cell
from colrun.networks.columnar import ColumnarNetwork
from colrun.networks.draw import initial_w
from colrun.readout import Readout


def random_feedback(seed: int, columns: int) -> Tensor:
    """b of a network, in float64."""
    return torch.from_numpy(initial_w(seed, columns, "rflo.feedback"))


@dataclass(frozen=True)
class FeedbackMemory(TraceMemory):
    """Traces, and b; None where w is the way back."""

    feedback: Tensor | None


class OnlineRFLO(OnlineTraces[FeedbackMemory]):
    """One trace per weight; local gradients from one backward pass with stopped gradients."""

    needs_columns = True
    symmetric: ClassVar[bool] = False

    def start(self, readout: Readout) -> FeedbackMemory:
        network = readout.network
        assert isinstance(network, ColumnarNetwork)
        feedback = None if self.symmetric else random_feedback(network.seed, network.columns).to(network.dtype)
        traces = begin(replace(readout, meta=False), network.owner)
        return FeedbackMemory(**vars(traces), feedback=feedback)

    def local(self, memory: FeedbackMemory, theta: Theta, x_t: Tensor) -> tuple[Tensor, Theta, Tensor]:
        """With the leak in place of d."""
        network, s_tm1 = memory.readout.network, memory.s.detach().requires_grad_()
        assert isinstance(network, ColumnarNetwork)
        layered = network.layers(theta, x_t, s_tm1, stop_lateral=True)
        local, _ = within_columns(theta, layered.s, s_tm1)
        cell = get_cell(network.cell)
        leak = cell.partials(layered.a.detach(), layered.r.detach(), s_tm1.detach()).by_s
        return layered.s.detach(), local, leak

    def way_back(self, memory: FeedbackMemory, by_state: Tensor) -> Tensor:
        return by_state if memory.feedback is None else memory.feedback


class OnlineSymmetric(OnlineRFLO):
    """With w as the way back."""

    symmetric = True


ONLINE = {"rflo": OnlineRFLO, "rflo-symmetric": OnlineSymmetric}
