"""The slowest and plainest form of everything, written from the definitions with a Python loop over columns.

It shares no code with the package but the parameters of a network, and takes every derivative by autograd.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.networks.base import CellNetwork, Gradients
from colrun.networks.dense import DenseNetwork
from colrun.testbed import Sequence

Theta = dict[str, Tensor]
State = tuple[Tensor, Tensor]  # h and m, each (C,)
Feed = Callable[[str, int], Tensor]  # from a gate and a state's number to U f + q, or to R h


def step(network: CellNetwork, theta: Theta, x: Tensor, state: State) -> State:
    feeds = dense_feeds if isinstance(network, DenseNetwork) else columnar_feeds
    features, recurrence = feeds(network, theta, x, state[0])
    new = [update(network.architecture.cell, i, features, recurrence, state) for i in range(network.columns)]
    return torch.stack([h_i for h_i, _ in new]), torch.stack([m_i for _, m_i in new])


def columnar_feeds(network: CellNetwork, theta: Theta, x: Tensor, h: Tensor) -> tuple[Feed, Feed]:
    architecture = network.architecture
    C = architecture.columns
    f = []
    for i in range(C):
        seen = x
        if architecture.switches.own_state and architecture.cell != "feedforward":
            seen = torch.cat([x, h[i : i + 1]])
        z_i = torch.relu(theta["A"][i] @ seen + theta["b"][i])
        f.append(torch.relu(theta["B"][i] @ z_i + theta["c"][i]))

    def features(gate: str, i: int) -> Tensor:
        total = sum(
            (theta[f"U.{gate}"][i, j] * network.masks[f"U.{gate}"][i, j] @ f[j] for j in range(C)), x.new_zeros(())
        )
        return total + theta[f"q.{gate}"][i] if architecture.switches.state_bias else total

    def recurrence(gate: str, i: int) -> Tensor:
        return (theta[f"R.{gate}"][i] * network.masks[f"R.{gate}"][i]) @ h

    return features, recurrence


def dense_feeds(network: CellNetwork, theta: Theta, x: Tensor, h: Tensor) -> tuple[Feed, Feed]:
    """One hidden block for all states, and every state sees all of h."""
    switches, cell = network.architecture.switches, network.architecture.cell
    seen = torch.cat([x, h]) if switches.own_state and cell != "feedforward" else x
    z = torch.relu(theta["A"] @ seen + theta["b"])
    f = torch.relu(theta["B"] @ z + theta["c"])

    def features(gate: str, i: int) -> Tensor:
        total = theta[f"U.{gate}"][i] @ f
        return total + theta[f"q.{gate}"][i] if switches.state_bias else total

    def recurrence(gate: str, i: int) -> Tensor:
        return theta[f"R.{gate}"][i] @ h

    return features, recurrence


def update(cell: str, i: int, features: Feed, recurrence: Feed, state: State) -> State:
    """h_i(t) and m_i(t)."""
    h, m = state

    def p(gate: str) -> Tensor:
        return features(gate, i) + recurrence(gate, i)

    m_i = m[i]
    match cell:
        case "additive":
            h_i = h[i] + torch.tanh(p("p"))
        case "feedforward":
            h_i = torch.tanh(features("p", i))
        case "gru":
            g, r = torch.sigmoid(p("g")), torch.sigmoid(p("r"))
            n = torch.tanh(features("n", i) + r * recurrence("n", i))
            h_i = (1 - g) * n + g * h[i]
        case "mgu":
            g = torch.sigmoid(p("g"))
            h_i = g * h[i] + (1 - g) * torch.tanh(p("p"))
        case "lstm":
            m_i = torch.sigmoid(p("f")) * m[i] + torch.sigmoid(p("i")) * torch.tanh(p("p"))
            h_i = torch.sigmoid(p("o")) * torch.tanh(m_i)
    return h_i, m_i


def losses(
    network: CellNetwork, theta: Theta, sequence: Sequence, alpha: float | None, cut: Callable[[int], bool]
) -> list[Tensor]:
    """L(t) of every step; where `cut(t)`, the state and w before step t (counted from 0) are constants."""
    h = m = torch.zeros_like(network.w)
    w = network.w
    found = []
    for t, (x, y) in enumerate(zip(sequence.x, sequence.y, strict=True)):
        if cut(t):
            h, m, w = h.detach(), m.detach(), w.detach()
        h, m = step(network, theta, x, (h, m))
        delta = y - w @ h
        found.append(delta**2 / 2)
        if alpha is not None:
            w = w + alpha * delta * h
    return found


def never(_: int) -> bool:
    """No cut."""
    return False


def max_error(network: CellNetwork, sequence: Sequence, alpha: float | None) -> float:
    """max_t |δ(t)|, from L = ½ δ²."""
    return float((2 * torch.stack(losses(network, network.theta, sequence, alpha, never))).sqrt().max())


def grad(output: Tensor, theta: Theta) -> Gradients:
    grads = torch.autograd.grad(output, list(theta.values()), retain_graph=True, allow_unused=True)
    return {k: torch.zeros_like(v) if g is None else g for (k, v), g in zip(theta.items(), grads, strict=True)}


def bptt(network: CellNetwork, sequence: Sequence, alpha: float | None) -> Gradients:
    theta = leaves(network)
    return grad(torch.stack(losses(network, theta, sequence, alpha, never)).sum(), theta)


def tbptt_block(network: CellNetwork, sequence: Sequence, alpha: float | None, k: int) -> Gradients:
    theta = leaves(network)
    return grad(torch.stack(losses(network, theta, sequence, alpha, lambda t: t % k == 0)).sum(), theta)


def tbptt(network: CellNetwork, sequence: Sequence, alpha: float | None, k: int) -> Gradients:
    theta = leaves(network)
    total = {name: torch.zeros_like(value) for name, value in theta.items()}
    for last in range(sequence.steps):
        start = max(0, last - k + 1)
        shown = Sequence(sequence.x[: last + 1], sequence.y[: last + 1])
        loss = losses(network, theta, shown, alpha, lambda t, start=start: t == start)[last]  # type: ignore[misc]
        for name, value in grad(loss, theta).items():
            total[name] += value
    return total


def master_user(network: CellNetwork, sequence: Sequence, alpha: float | None, meta: bool) -> Gradients:
    """Columns as groups: the first index of every tensor says whose it is."""
    owner = {}
    for name, value in network.theta.items():
        owner[name] = torch.zeros(value.shape, dtype=torch.long)
        for i in range(network.columns):
            owner[name][i] = i
    return groups(network, sequence, alpha, owner, meta)


def groups(
    network: CellNetwork, sequence: Sequence, alpha: float | None, owner: dict[str, Tensor], meta: bool = True
) -> Gradients:
    """Eqs. master_user, tw_update and final_update: forward recursions, one backward pass per state number.

    `owner` says for every weight the state whose group it is in.
    """
    theta = leaves(network)
    zero = {name: torch.zeros_like(value) for name, value in theta.items()}
    TH, TM, TW, total = (dict(zero) for _ in range(4))
    h = m = torch.zeros_like(network.w)
    w = network.w
    for x, y in zip(sequence.x, sequence.y, strict=True):
        h_tm1, m_tm1 = h.detach().requires_grad_(), m.detach().requires_grad_()
        h, m = step(network, theta, x, (h_tm1, m_tm1))
        delta = (y - w @ h).detach()
        TH_new, TM_new = dict(zero), dict(zero)
        for i in range(network.columns):
            for state, new in ((h[i], TH_new), (m[i], TM_new)):
                if not state.requires_grad:
                    continue
                local = grad(state, theta | {"h": h_tm1, "m": m_tm1})
                for name in theta:
                    trace = local[name] + local["h"][i] * TH[name] + local["m"][i] * TM[name]
                    new[name] = new[name] + torch.where(owner[name] == i, trace, 0.0)
        TH, TM = TH_new, TM_new
        h, m = h.detach(), m.detach()
        for name in theta:
            h_i, w_i = h[owner[name]], w[owner[name]]
            total[name] = total[name] - delta * (w_i * TH[name] + h_i * TW[name])
            if alpha is not None and meta:
                TW[name] = (1 - alpha * h_i**2) * TW[name] + alpha * (delta - h_i * w_i) * TH[name]
        if alpha is not None:
            w = w + alpha * delta * h
    return total


class Step(NamedTuple):
    """One step with the derivatives of every h_j and m_j by θ and by the state before ("h", "m"), (C, …) each."""

    x: Tensor
    y: Tensor
    h: Tensor
    m: Tensor
    by_h: Theta
    by_m: Theta


def steps_of(network: CellNetwork, sequence: Sequence) -> list[Step]:
    """With a fixed w or a learning one, states are the same."""
    theta = leaves(network)
    found = []
    h = m = torch.zeros_like(network.w)
    for x, y in zip(sequence.x, sequence.y, strict=True):
        wanted = theta | {"h": h.detach().requires_grad_(), "m": m.detach().requires_grad_()}
        h, m = step(network, theta, x, (wanted["h"], wanted["m"]))
        zero = {name: torch.zeros_like(value) for name, value in wanted.items()}
        by_h, by_m = ([grad(s_j, wanted) if network.states > n else zero for s_j in s] for n, s in enumerate((h, m)))
        h, m = h.detach(), m.detach()
        stacked = [{name: torch.stack([row[name] for row in rows]) for name in wanted} for rows in (by_h, by_m)]
        found.append(Step(x, y, h, m, *stacked))
    return found


def entered(network: CellNetwork, name: str, place: tuple[int, ...]) -> set[int]:
    """The states that one weight enters in the step in which it acts, along weights that exist."""
    i = place[0]
    if name not in ("A", "b", "B", "c"):
        return {i}
    U = [network.masks[f"U.{gate}"] for gate in network.gates]
    units = range(U[0].shape[2]) if name in ("A", "b") else [place[1]]  # all of B exists
    return {to for to in range(network.columns) if any(mask[to, i, unit] for mask in U for unit in units)}


def onward(network: CellNetwork, source: int) -> set[int]:
    """The states that a state enters one step later."""
    architecture = network.architecture
    sees = architecture.switches.own_state and architecture.cell != "feedforward"
    kinds = ("R", "U") if sees else ("R",)
    masks = [network.masks.get(f"{kind}.{gate}") for kind in kinds for gate in network.gates]
    every = range(network.columns)
    return {to for to in every if any(mask is not None and mask[to, source].any() for mask in masks)}


def snap(network: CellNetwork, steps: list[Step], alpha: float | None, orders: tuple[int, ...]) -> list[Gradients]:
    """The whole influence of every weight on every state and w, by autograd; what is not tracked is put to 0."""
    theta = network.theta
    zero = {name: value.new_zeros(network.columns, *value.shape) for name, value in theta.items()}
    kept = [keep(network, k, zero) for k in orders]
    MH, MM, MW = ([dict(zero) for _ in orders] for _ in range(3))
    total = [{name: torch.zeros_like(value) for name, value in theta.items()} for _ in orders]
    w = network.w
    for _, y, h, _, by_h, by_m in steps:
        delta = y - w @ h
        for n, k in enumerate(orders):
            new_H: Theta = {}
            new_M: Theta = {}
            for name in theta:
                for new, by in ((new_H, by_h), (new_M, by_m)):
                    before = torch.tensordot(by["h"], MH[n][name], 1) + torch.tensordot(by["m"], MM[n][name], 1)
                    new[name] = kept[n][name] * (by[name] + before)
                d_delta = -torch.tensordot(w, new_H[name], 1) - torch.tensordot(h, MW[n][name], 1)
                total[n][name] = total[n][name] + delta * d_delta
                if alpha is not None:
                    more = alpha * (torch.tensordot(h[:, None], d_delta[None], 1) + delta * new_H[name])
                    MW[n][name] = MW[n][name] + (more * kept[n][name] if k == 1 else more)
            MH[n], MM[n] = new_H, new_M
        if alpha is not None:
            w = w + alpha * delta * h
    return total


def keep(network: CellNetwork, k: int, zero: Theta) -> Theta:
    """1 for every state and single weight that is tracked, (C, …) by name: a walk of k steps for each weight."""
    kept = {name: value.clone() for name, value in zero.items()}
    after = [onward(network, source) | {source} for source in range(network.columns)]
    for name, value in kept.items():
        for place in itertools.product(*map(range, value.shape[1:])):
            states = entered(network, name, place)
            for _ in range(k - 1):
                states = states.union(*(after[state] for state in states))
            for j in states:
                value[(j, *place)] = 1.0
    return kept


def rflo(
    network: CellNetwork, steps: list[Step], alpha: float | None, feedbacks: tuple[Tensor | None, ...]
) -> list[Gradients]:
    """Traces with the leak of each cell, written out; a feedback is None where w is the way back."""
    cell, C, theta = network.architecture.cell, network.columns, network.theta
    TH, TM = ({name: torch.zeros_like(value) for name, value in theta.items()} for _ in range(2))
    total = [{name: torch.zeros_like(value) for name, value in theta.items()} for _ in feedbacks]
    w, h_tm1 = network.w, torch.zeros_like(network.w)
    for x, y, h, m, by_h, by_m in steps:
        delta = y - w @ h
        features, recurrence = columnar_feeds(network, theta, x, h_tm1)
        for i in range(C):
            gate = {name: torch.sigmoid(features(name, i) + recurrence(name, i)) for name in network.gates}
            leak = {"additive": 1.0, "lstm": 0.0}.get(cell, gate.get("g", 0.0))
            for name in theta:
                trace = by_h[name][i, i] + leak * TH[name][i]
                if cell == "lstm":
                    kept = gate["f"] * TM[name][i]
                    trace = trace + gate["o"] * (1 - torch.tanh(m[i]) ** 2) * kept
                    TM[name][i] = by_m[name][i, i] + kept
                TH[name][i] = trace
                for feedback, found in zip(feedbacks, total, strict=True):
                    found[name][i] -= delta * (w if feedback is None else feedback)[i] * trace
        h_tm1 = h
        if alpha is not None:
            w = w + alpha * delta * h
    return total


def leaves(network: CellNetwork) -> Theta:
    return {name: value.clone().requires_grad_() for name, value in network.theta.items()}


def relative_error(found: Gradients, expected: Gradients) -> tuple[float, str]:
    """The largest relative error over named tensors, and whose it is. Nothing may be infinite or NaN."""
    assert list(found) == list(expected)
    worst = (0.0, "")
    for name, value in expected.items():
        assert value.isfinite().all(), f"expected {name} is not finite"
        assert found[name].isfinite().all(), f"found {name} is not finite"
        scale = float(value.norm())
        error = float((found[name] - value).norm()) / (scale or 1.0)
        worst = max(worst, (error, name))
    return worst
