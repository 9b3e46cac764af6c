"""Reference `plain`: the paper's approach, as one writes it with autograd.

One network at a time, its columns in a Python loop, and one pass over the sequence for the truth, for Master-User and
for each truncation window: the published online forms of estimators/ on a step that loops over columns.
"""

import torch
from torch import Tensor

from colrun.engine.metrics import compare
from colrun.estimators import EstimatorName, get_online
from colrun.estimators.online import run
from colrun.networks.base import Gradients
from colrun.networks.cells import get_cell
from colrun.networks.columnar import ColumnarNetwork
from colrun.testbed import Sequence


class PlainNetwork(ColumnarNetwork):
    """A columnar network that takes its columns one by one."""

    def step(self, theta: dict[str, Tensor], x_t: Tensor, s_tm1: Tensor, stop_lateral: bool = False) -> Tensor:
        """One forward step; lateral inputs are gathered from a loop over the other columns."""
        h_tm1 = s_tm1[0]
        features = []
        for i in range(self.columns):
            seen = torch.cat([x_t, h_tm1[i : i + 1]]) if self.architecture.sees_own_state else x_t
            z_i = torch.relu(torch.mv(theta["A"][i], seen) + theta["b"][i])
            features.append(torch.relu(torch.mv(theta["B"][i], z_i) + theta["c"][i]))
        all_features, all_h = torch.stack(features), h_tm1
        if stop_lateral:
            all_features, all_h = all_features.detach(), all_h.detach()
        a, r = [], []
        for gate in self.gates:
            a_gate, r_gate = [], []
            for i in range(self.columns):
                U_i = theta[f"U.{gate}"][i] * self.masks[f"U.{gate}"][i]
                p = (U_i * all_features).sum()
                if stop_lateral:  # adds nothing but the gradient of the column's own features
                    p = p + torch.dot(U_i[i], features[i] - features[i].detach())
                if f"q.{gate}" in theta:
                    p = p + theta[f"q.{gate}"][i]
                a_gate.append(p)
                if not self.architecture.recurrent:
                    r_gate.append(torch.zeros_like(p))
                    continue
                R_i = theta[f"R.{gate}"][i] * self.masks[f"R.{gate}"][i]
                from_states = torch.dot(R_i, all_h)
                if stop_lateral:
                    from_states = from_states + R_i[i] * (h_tm1[i] - h_tm1[i].detach())
                r_gate.append(from_states)
            a.append(torch.stack(a_gate))
            r.append(torch.stack(r_gate))
        return get_cell(self.architecture.cell).update(torch.stack(a), torch.stack(r), s_tm1)


def gradient(network: ColumnarNetwork, sequence: Sequence, name: EstimatorName, step_size: float | None) -> Gradients:
    """One pass of one estimator's online form."""
    return run(get_online(name), network, sequence, step_size).gradient


def measure_plain(
    network: ColumnarNetwork, sequence: Sequence, names: list[EstimatorName], step_size: float | None
) -> dict[EstimatorName, dict[str, float]]:
    """The metrics of every estimator, for one network."""
    plain = PlainNetwork(network.architecture, network.seed, network.theta, network.masks, network.w)
    truth = gradient(plain, sequence, EstimatorName("bptt"), step_size)
    return {name: judged(network, truth, gradient(plain, sequence, name, step_size)) for name in names}


def judged(network: ColumnarNetwork, truth: Gradients, estimate: Gradients) -> dict[str, float]:
    """Metrics of one network."""
    one = [{key: value.numpy()[None] for key, value in given.items()} for given in (truth, estimate, network.masks)]
    return {key: float(value[0]) for key, value in compare(*one).items()}
