"""Reference `vectorised`: what a careful user of autograd writes.

Columns are batched, one network at a time. The sequence runs forward once, a graph per step, and is shared by the truth
and by all windows: losses go back through the states only, all lags of a step in one batched backward pass, and since
a step's gradient is linear in the credit of its state, each window then needs one backward pass into θ per step.
"""

import torch
from torch import Tensor

from colrun.bench.plain import gradient, judged
from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork
from colrun.readout import predict
from colrun.testbed import Sequence


def measure_vectorised(
    network: ColumnarNetwork, sequence: Sequence, names: list[EstimatorName], step_size: float | None
) -> dict[EstimatorName, dict[str, float]]:
    """The metrics of every estimator, for one network."""
    windows = [name.window for name in names if name.family == "tbptt" and name.window is not None]
    T = sequence.steps
    found = windowed(network, sequence, sorted({T, *(min(window, T) for window in windows)}), step_size)
    truth = found[T]
    judgements = {}
    for name in names:
        if name.family == "tbptt" and name.window is not None:
            estimate = found[min(name.window, T)]
        elif name.family.startswith("master-user"):
            estimate = gradient(network, sequence, name, step_size)
        else:
            raise InvalidValueError(f"the vectorised reference has no {name}; it has master-user and tbptt-k.")
        judgements[name] = judged(network, truth, estimate)
    return judgements


def windowed(
    network: ColumnarNetwork, sequence: Sequence, windows: list[int], step_size: float | None
) -> dict[int, Gradients]:
    """Gradients of tbptt for every window; that of T steps is the truth."""
    theta = {name: value.detach().clone().requires_grad_() for name, value in network.theta.items()}
    s, w = network.initial_state(), network.w
    steps: list[tuple[list[Tensor], list[Tensor], Tensor]] = []
    for x_t, y_t in zip(sequence.x, sequence.y, strict=True):
        before = [s.detach().requires_grad_(), w.detach().requires_grad_()]
        s = network.step(theta, x_t, before[0])
        _, _, loss, w = predict(before[1], s[0], y_t, step_size)
        steps.append((before, [s, w], loss))
    total = {window: {name: torch.zeros_like(value) for name, value in network.theta.items()} for window in windows}
    # credit[l] = derivatives of the loss l steps ahead with respect to state and w after this step
    credit: list[Tensor] = []
    for before, (s_t, w_tp1), loss in reversed(steps):
        own = torch.autograd.grad(loss, [s_t, before[1]], retain_graph=True)
        lags_s = torch.cat([own[0][None], credit[0]]) if credit else own[0][None]
        lags_w = torch.cat([torch.zeros_like(own[1])[None], credit[1]]) if credit else torch.zeros_like(own[1])[None]
        if step_size is not None:  # through the update of w into the state
            through = torch.autograd.grad(w_tp1, [s_t, before[1]], lags_w, is_grads_batched=True, retain_graph=True)
            lags_s, lags_w = lags_s + through[0], through[1]
            lags_w[0] += own[1]
        reach = len(lags_s)
        for window in windows:
            grads = torch.autograd.grad(
                s_t,
                list(theta.values()),
                lags_s[: min(window, reach)].sum(0),
                retain_graph=True,
                materialize_grads=True,
            )
            for value, grad in zip(total[window].values(), grads, strict=True):
                value += grad
        earlier = torch.autograd.grad(s_t, before[0], lags_s, is_grads_batched=True, allow_unused=True)[0]
        longest = max(windows) - 1
        back = torch.zeros_like(lags_s) if earlier is None else earlier
        credit = [back[:longest], lags_w[:longest]]
    return total
