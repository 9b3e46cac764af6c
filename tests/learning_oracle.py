"""Learners in plain torch, float64, as literal as LEARNING.md section 3 states them: full Jacobians by autograd.

The state that is followed is τ(t) = (s(t), w(t), w_0(t)), in which w(t) is what LMS made of τ(t-1); without meta its
derivatives are left out. θ is one flat vector of all weights, masked ones included, which the step multiplies by 0.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from colrun.lanes.layout import draw
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.draw import initial_w
from colrun.streams import Array, stream
from colrun.tasks import Stream


class Inside(NamedTuple):
    """What a step looks like inside: inputs and derivatives of the state by pre-activations are asked of it."""

    s: Tensor
    seen: dict[str, Tensor]
    """What the rows of each kind see: `first` (C, n), `second` (C, W + 1), `a` and `r` (G, C, n)"""


class Network:
    def __init__(self, architecture: Architecture, seed: int) -> None:
        self.architecture = architecture
        self.C, self.W, self.inputs = architecture.columns, architecture.width, architecture.inputs
        self.gates, self.S = CELLS[architecture.cell].gates, CELLS[architecture.cell].states
        drawn = draw(architecture, seed)
        self.shapes = {name: value.shape for name, value in drawn.theta.items()}
        self.theta = self.flat(drawn.theta)
        self.mask = self.flat({name: mask.astype(np.float64) for name, mask in drawn.masks.items()})
        self.owner = self.flat(
            {name: np.indices(value.shape)[0].astype(np.float64) for name, value in drawn.theta.items()}
        ).long()
        self.w = torch.from_numpy(np.append(initial_w(seed, self.C), 0.0))
        self.P = self.S * self.C

    def flat(self, named: dict[str, Array]) -> Tensor:
        return torch.cat([torch.from_numpy(np.ascontiguousarray(value)).reshape(-1) for value in named.values()])

    def named(self, flat: Tensor) -> dict[str, Tensor]:
        parts = torch.split(flat, [int(np.prod(shape)) for shape in self.shapes.values()])
        return {name: part.reshape(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def step(
        self, theta: Tensor, x: Tensor, s: Tensor, bumps: dict[str, Tensor] | None = None, fixed: Tensor | None = None
    ) -> Inside:
        """s (P,) → s(t). `bumps`, zeros, are added to pre-activations; `fixed` is h as weights see it."""
        C, W = self.C, self.W
        at, bumps = self.named(theta * self.mask), bumps or {}
        before = s.reshape(self.S, C)
        h = before[0] if fixed is None else fixed
        one = torch.ones(C, 1, dtype=torch.float64)
        seen: dict[str, Tensor] = {}
        if W > 0:
            column_input = x.expand(C, -1)
            if self.architecture.sees_own_state:
                column_input = torch.cat([column_input, h.unsqueeze(1)], 1)
            seen["first"] = torch.cat([column_input, one], 1)
            z = torch.relu(torch.einsum("cwk,ck->cw", at["A"], column_input) + at["b"] + bumps.get("first", 0))
            seen["second"] = torch.cat([z, one], 1)
            f = torch.relu(torch.einsum("cwv,cv->cw", at["B"], z) + at["c"] + bumps.get("second", 0))
        a, r, by_gate = [], [], []
        for gate in self.gates:
            into = (
                torch.einsum("cm,m->c", at[f"V.{gate}"], x) if W == 0 else torch.einsum("ijw,jw->i", at[f"U.{gate}"], f)
            )
            a.append(into + at.get(f"q.{gate}", torch.zeros(C)))
            r.append(at[f"R.{gate}"] @ h if f"R.{gate}" in at else torch.zeros(C, dtype=torch.float64))
            by_gate.append(
                torch.cat([x if W == 0 else f.reshape(-1), torch.ones(1, dtype=torch.float64)]).expand(C, -1)
            )
        seen["a"], seen["r"] = torch.stack(by_gate), h.expand(len(self.gates), C, C)
        return Inside(self.cell(torch.stack(a) + bumps.get("a", 0), torch.stack(r) + bumps.get("r", 0), before), seen)

    def cell(self, a: Tensor, r: Tensor, before: Tensor) -> Tensor:
        name, p = self.architecture.cell, a + r
        h = before[0]
        if name == "additive":
            return h + torch.tanh(p[0])
        if name == "feedforward":
            return torch.tanh(a[0])
        g = torch.sigmoid(p[0])
        if name == "mgu":
            return g * h + (1 - g) * torch.tanh(p[1])
        if name == "gru":
            return (1 - g) * torch.tanh(a[2] + torch.sigmoid(p[1]) * r[2]) + g * h
        m = g * before[1] + torch.sigmoid(p[1]) * torch.tanh(p[3])
        return torch.cat([torch.sigmoid(p[2]) * torch.tanh(m), m])


def full(outputs: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    """Jacobians of `outputs` by each of `inputs`, flattened."""
    rows = torch.eye(outputs.numel(), dtype=torch.float64)
    grads = torch.autograd.grad(outputs, inputs, rows, is_grads_batched=True, allow_unused=True, retain_graph=True)
    return [
        torch.zeros(outputs.numel(), value.numel(), dtype=torch.float64)
        if grad is None
        else grad.reshape(len(rows), -1)
        for value, grad in zip(inputs, grads, strict=True)
    ]


class Now(NamedTuple):
    """Step t, as estimators see it."""

    t: int
    counted: bool
    delta: Tensor
    s: Tensor
    s_tm1: Tensor
    w: Tensor
    x: Tensor
    y: Tensor
    theta: Tensor
    local: Tensor
    """∂τ(t)/∂θ at fixed τ(t-1), (Q, |θ|)"""
    J: Tensor
    """∂τ(t)/∂τ(t-1)"""
    on_loss: Tensor
    """∂L(t)/∂τ(t)"""


class Learner:
    """θ(t), w(t) and s(t), stepped by an estimator: a function of `Now` that gives ĝ(t), or None for no update."""

    def __init__(
        self, architecture: Architecture, seed: int, name: str, optimiser: str, eta: float, meta: bool,
        alpha: float | None = None, bias: bool = True,
    ) -> None:  # fmt: skip
        self.net = Network(architecture, seed)
        self.seed, self.optimiser, self.eta, self.meta, self.bias = seed, optimiser, eta, meta, float(bias)
        self.alpha = 0.2 / (architecture.columns + 1) if alpha is None else alpha
        self.theta, self.w, self.s = self.net.theta.clone(), self.net.w.clone(), torch.zeros(self.net.P).double()
        self.v, self.m, self.n = torch.zeros_like(self.theta), torch.zeros_like(self.theta), 0
        self.before: tuple[Tensor, bool] | None = None  # y* and whether the step before was counted
        self.total, self.errors, self.t = torch.zeros_like(self.theta), 0.0, 0
        self.w_tm1 = self.w
        found = re.fullmatch(r"(.+?)-([0-9]+)", name)
        family, number = (found[1], int(found[2])) if found else (name, 0)
        from tests import learning_oracle_estimators as estimators

        self.estimate: Callable[[Now], Tensor | None] = estimators.ESTIMATORS[family](self, number)

    def readout(self, w: Tensor, h: Tensor) -> Tensor:
        return w[:-1] @ h + w[-1] * self.bias

    def lms(self, w: Tensor, h: Tensor, y: Tensor, counted: bool) -> Tensor:
        if not counted:
            return w
        delta = y - self.readout(w, h)
        return w + self.alpha * delta * torch.cat([h, torch.full((1,), self.bias).double()])

    def move(self, theta: Tensor, x: Tensor, tau: Tensor, before: tuple[Tensor, bool] | None) -> Tensor:
        """τ(t-1) → τ(t)."""
        P, C = self.net.P, self.net.C
        s, w = tau[:P], tau[P:]
        w_t = w if before is None else self.lms(w, s[:C], *before)
        return torch.cat([self.net.step(theta, x, s).s, w_t])

    def step(self, x: Tensor, y: Tensor, counted: bool) -> None:
        C, P = self.net.C, self.net.P
        Q = P + C + 1 if self.meta else P
        theta = self.theta.clone().requires_grad_()
        tau = torch.cat([self.s, self.w_tm1]).requires_grad_()
        after = self.move(theta, x, tau, self.before)
        assert torch.equal(after[P:].detach(), self.w)
        local, J = full(after[:Q], [theta, tau])
        tau_t = after.detach().requires_grad_()
        delta = y - self.readout(tau_t[P:], tau_t[:C])
        (on_loss,) = torch.autograd.grad(0.5 * delta**2, tau_t)
        s_tm1, self.s = self.s, after[:P].detach()
        now = Now(
            self.t, counted, delta.detach(), self.s, s_tm1, self.w, x, y, self.theta, local, J[:, :Q], on_loss[:Q]
        )
        gradient = self.estimate(now)
        if counted:
            self.errors += float(delta.detach()) ** 2
        self.w_tm1, self.w = self.w, self.lms(self.w, self.s[:C], y, counted)
        self.before = y, counted
        if gradient is not None:
            self.total += gradient
            self.optimise(gradient)
        self.t += 1

    def optimise(self, g: Tensor) -> None:
        self.n += 1
        if self.optimiser == "adam":
            self.m = 0.9 * self.m + 0.1 * g
        if self.optimiser != "sgd":
            self.v = 0.999 * self.v + 0.001 * g**2
        top = self.m / (1 - 0.9**self.n) if self.optimiser == "adam" else g
        below = 1.0 if self.optimiser == "sgd" else (self.v / (1 - 0.999**self.n)).sqrt() + 1e-8
        self.theta = self.theta - self.eta * top / below

    def run(self, given: Stream) -> "Learner":
        for x, y, counted in zip(torch.from_numpy(given.x), torch.from_numpy(given.y), given.counted, strict=True):
            self.step(x, y, bool(counted))
        return self


def signs(seed: int, name: str) -> np.random.Generator:
    return stream(seed, f"{name}.0")
