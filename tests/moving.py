"""Every algorithm's definition while θ moves, as literal as can be: full Jacobians by autograd, and loops over columns.

It shares nothing with the package but a network's parameters, groups and signs; the forward step is the oracle's. Each
step s has leaves θ(s) of its own. ĝ(t) is None where the algorithm gives none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from colrun.estimators.master_user_groups import random_owner
from colrun.estimators.rflo import random_feedback
from colrun.estimators.stochastic import Signs
from colrun.networks.base import Gradients
from colrun.networks.columnar import ColumnarNetwork
from tests import oracle

Theta = dict[str, Tensor]
PerStep = list[Gradients | None]


class Local(NamedTuple):
    """One step at θ(t): s(t) = (h, m) in one row of P numbers, ∂s(t)/∂θ (P, …) by name, and J (P, P)."""

    theta: Theta
    x: Tensor
    s_tm1: Tensor
    s: Tensor
    by: Theta
    J: Tensor


@dataclass(frozen=True)
class Course:
    """A network on a stream, with θ(t) given for every step."""

    net: ColumnarNetwork
    path: list[Theta]
    x: Tensor
    y: Tensor
    counted: list[bool]
    alpha: float | None
    meta: bool

    @property
    def steps(self) -> range:
        return range(len(self.path))

    @property
    def C(self) -> int:
        return self.net.columns

    def forward(self, theta: Theta, x: Tensor, s: Tensor) -> Tensor:
        h, m = s[: self.C], s[self.C :] if len(s) > self.C else torch.zeros_like(s)
        return torch.cat(oracle.step(self.net, theta, x, (h, m)))[: len(s)]

    @cached_property
    def locals(self) -> list[Local]:
        s, found = self.net.w.new_zeros(self.net.states * self.C), []
        for theta, x in zip(self.path, self.x, strict=True):
            s_t = self.forward(theta, x, s)
            by, J = torch.func.jacrev(self.forward, argnums=(0, 2))(theta, x, s)
            found.append(Local(theta, x, s, s_t, by, J))
            s = s_t
        return found

    @cached_property
    def w(self) -> list[Tensor]:
        """w(t) before the update of that step, and the last."""
        found = [self.net.w]
        for t in self.steps:
            h, w = self.locals[t].s[: self.C], found[-1]
            learns = self.alpha is not None and self.counted[t]
            found.append(w + self.alpha * (self.y[t] - w @ h) * h if learns else w)  # type: ignore[operator]
        return found

    def delta(self, t: int) -> Tensor:
        return self.y[t] - self.w[t] @ self.locals[t].s[: self.C]

    def zeros(self, *leading: int) -> Theta:
        return {name: value.new_zeros(*leading, *value.shape) for name, value in self.net.theta.items()}

    def loss_gradient(self, first: int, losses: range) -> Gradients | None:
        """Of these losses, with the state and w before step `first` constants: Σ_s ∂/∂θ(s)."""
        leaves = {
            s: {k: v.clone().requires_grad_() for k, v in self.path[s].items()} for s in range(first, losses.stop)
        }
        s, w, total = self.locals[first].s_tm1, self.w[first], None
        for t in range(first, losses.stop):
            s = self.forward(leaves[t], self.x[t], s)
            delta = self.y[t] - w @ s[: self.C]
            if t in losses and self.counted[t]:
                total = delta**2 / 2 + (0 if total is None else total)
            if self.alpha is not None and self.counted[t]:
                w = w + self.alpha * delta * s[: self.C]
                w = w if self.meta else self.w[t + 1]
        if total is None:
            return None
        found = self.zeros()
        for theta in leaves.values():
            for name, value in oracle.grad(total, theta).items():
                found[name] = found[name] + value
        return found


def exact(course: Course) -> PerStep:
    return [course.loss_gradient(0, range(t, t + 1)) for t in course.steps]


def window(course: Course, k: int) -> PerStep:
    return [course.loss_gradient(max(0, t - k + 1), range(t, t + 1)) for t in course.steps]


def blocks(course: Course, k: int) -> tuple[PerStep, Gradients | None]:
    """Inside a block there is none; the short last one is what is open."""
    found: PerStep = []
    for t in course.steps:
        full = (t + 1) % k == 0
        found.append(course.loss_gradient(t + 1 - k, range(t + 1 - k, t + 1)) if full else None)
    T = len(course.path)
    first = T - T % k
    return found, course.loss_gradient(first, range(first, T)) if T % k else None


def traces(
    course: Course,
    owner: Theta,
    decay: Callable[[Local], Tensor] = lambda here: here.J,
    feedback: Tensor | None = None,
    meta: bool = True,
) -> PerStep:
    """Eqs. master_user, tw_update, final_update: every weight has its own state (a pair where there is a memory)."""
    C, alpha = course.C, course.alpha
    S = course.net.states
    e, TW = course.zeros(S), course.zeros()
    found: PerStep = []
    for t in course.steps:
        here, d = course.locals[t], decay(course.locals[t])
        h, w, delta = here.s[:C], course.w[t], course.delta(t)
        for name, trace in e.items():
            new = torch.zeros_like(trace)
            for i in range(C):
                rows = [k * C + i for k in range(S)]
                whole = here.by[name][rows] + torch.tensordot(d[rows][:, rows], trace, 1)
                new = torch.where(owner[name] == i, whole, new)
            e[name] = new
        if not course.counted[t]:
            found.append(None)
            continue
        gradient = {}
        for name in e:
            h_i, w_i = h[owner[name]], w[owner[name]]
            back = w_i if feedback is None else feedback[owner[name]]
            gradient[name] = -delta * (back * e[name][0] + h_i * TW[name])
            if alpha is not None and course.meta and meta:
                TW[name] = (1 - alpha * h_i**2) * TW[name] + alpha * (delta - h_i * w_i) * e[name][0]
        found.append(gradient)
    return found


def columns_of(net: ColumnarNetwork) -> Theta:
    found = {}
    for name, value in net.theta.items():
        found[name] = torch.zeros(value.shape, dtype=torch.long)
        for i in range(net.columns):
            found[name][i] = i
    return found


def leak(course: Course, here: Local) -> Tensor:
    """∂s_i(t)/∂s_i(t-1) at fixed pre-activations, written out, as a (P, P) matrix."""
    net, C, cell = course.net, course.C, course.net.architecture.cell
    features, recurrence = oracle.columnar_feeds(net, here.theta, here.x, here.s_tm1[:C])
    found = torch.zeros_like(here.J)
    for i in range(C):
        gate = {name: torch.sigmoid(features(name, i) + recurrence(name, i)) for name in net.gates}
        if cell == "lstm":
            found[C + i, C + i] = gate["f"]
            found[i, C + i] = gate["o"] * (1 - torch.tanh(here.s[C + i]) ** 2) * gate["f"]
        else:
            found[i, i] = 1.0 if cell == "additive" else gate["g"]
    return found


def snap(course: Course, k: int) -> PerStep:
    C, alpha, S = course.C, course.alpha, course.net.states
    kept = oracle.keep(course.net, k, course.zeros(C))
    M, Mw = course.zeros(S * C), course.zeros(C)
    found: PerStep = []
    for t in course.steps:
        here = course.locals[t]
        h, w, delta = here.s[:C], course.w[t], course.delta(t)
        for name in M:
            pattern = torch.cat([kept[name]] * S)
            M[name] = pattern * (here.by[name] + torch.tensordot(here.J, M[name], 1))
        if not course.counted[t]:
            found.append(None)
            continue
        gradient = {}
        for name in M:
            d_delta = -torch.tensordot(w, M[name][:C], 1) - torch.tensordot(h, Mw[name], 1)
            gradient[name] = delta * d_delta
            if alpha is not None and course.meta:
                more = alpha * (torch.tensordot(h[:, None], d_delta[None], 1) + delta * M[name][:C])
                Mw[name] = Mw[name] + (more * kept[name] if k == 1 else more)
        found.append(gradient)
    return found


def ratio(above: Tensor, below: Tensor) -> tuple[Tensor, Tensor]:
    """√(above/below) and its inverse; both 0 where a norm is 0."""
    if float(above) == 0 or float(below) == 0:
        return torch.zeros_like(above), torch.zeros_like(above)
    return (above / below).sqrt(), (below / above).sqrt()


def size(named: Theta) -> Tensor:
    return torch.cat([value.flatten() for value in named.values()]).square().sum().sqrt()


def rank_one(course: Course, name: str, draw: int) -> PerStep:
    """uoro and nobacktrack: τ = (s, w), whose derivative by θ is τ̃ ⊗ θ̃ on average."""
    C, alpha, P = course.C, course.alpha, course.net.states * course.C
    signs, own = Signs(course.net.seed, name, draw), columns_of(course.net)
    v, vw = course.net.w.new_zeros(P), course.net.w.new_zeros(C)
    theta_tilde, found = course.zeros(), []
    for t in course.steps:
        here = course.locals[t]
        h, w, delta = here.s[:C], course.w[t], course.delta(t)
        sign = signs.take(P)
        moved = here.J @ v
        gradient = None
        if name == "uoro":
            if course.counted[t]:
                along = -delta * (w @ moved[:C] + h @ vw)
                gradient = {
                    k: along * theta_tilde[k] - delta * torch.tensordot(w, here.by[k][:C], 1) for k in theta_tilde
                }
            rho_of = ratio(size({k: torch.tensordot(sign, by, 1) for k, by in here.by.items()}), sign.norm())
            rho, inverse = (value.expand(P) for value in rho_of)
        else:
            norms = [size({k: by[p] * (own[k] == p % C) for k, by in here.by.items()}) for p in range(P)]
            rho, inverse = (
                torch.stack(each) for each in zip(*(ratio(n, torch.ones_like(n)) for n in norms), strict=True)
            )
        rho0, inverse0 = ratio(size(theta_tilde), torch.cat([moved, vw]).norm())
        v, vw = rho0 * moved + rho * sign, rho0 * vw
        theta_tilde = {
            k: inverse0 * theta_tilde[k] + torch.tensordot(inverse * sign, here.by[k], 1) for k in theta_tilde
        }
        if name == "nobacktrack" and course.counted[t]:
            along = -delta * (w @ v[:C] + h @ vw)
            gradient = {k: along * value for k, value in theta_tilde.items()}
        if alpha is not None and course.meta and course.counted[t]:
            vw = vw + alpha * (-(w @ v[:C] + h @ vw) * h + delta * v[:C])
        found.append(gradient)
    return found


Place = tuple[str, tuple[int | slice, ...]]


class Matrix(NamedTuple):
    """One weight matrix at one step: where its weights are, its input, and D (P, rows)."""

    places: list[Place]
    """Name and index of each column of the matrix, of all rows."""
    fed: Tensor
    D: Tensor


def matrices(course: Course, here: Local) -> list[Matrix]:
    """In the order of their signs. D by the biases, and by R of a state that is not 0: networks must have q."""
    net, C, theta = course.net, course.C, here.theta
    one = here.x.new_ones(1)
    first, second, rows, recurrent = [], [], [], []
    features = []
    for i in range(C):
        sees = net.architecture.sees_own_state
        seen = torch.cat([here.x, here.s_tm1[i : i + 1]]) if sees else here.x
        z = torch.relu(theta["A"][i] @ seen + theta["b"][i])
        features.append(torch.relu(theta["B"][i] @ z + theta["c"][i]))
        A: list[Place] = [*(("A", (i, slice(None), n)) for n in range(len(seen))), ("b", (i, slice(None)))]
        B: list[Place] = [*(("B", (i, slice(None), n)) for n in range(len(z))), ("c", (i, slice(None)))]
        first.append(Matrix(A, torch.cat([seen, one]), here.by["b"][:, i]))
        second.append(Matrix(B, torch.cat([z, one]), here.by["c"][:, i]))
    f = torch.stack(features)
    for gate in net.gates:
        for i in range(C):
            exist = net.masks[f"U.{gate}"][i].nonzero().tolist()
            places: list[Place] = [*((f"U.{gate}", (i, j, n)) for j, n in exist), (f"q.{gate}", (i,))]
            fed = torch.stack([*(f[j, n] for j, n in exist), one[0]])
            rows.append(Matrix(places, fed, here.by[f"q.{gate}"][:, i : i + 1]))
            if not net.architecture.recurrent:
                continue
            exist = net.masks[f"R.{gate}"][i].nonzero().flatten().tolist()
            D, fed = torch.zeros_like(here.by[f"q.{gate}"][:, :1]), here.s_tm1[exist]
            for j in exist:
                if here.s_tm1[j] != 0:
                    D = (here.by[f"R.{gate}"][:, i, j] / here.s_tm1[j]).unsqueeze(1)
            recurrent.append(Matrix([(f"R.{gate}", (i, j)) for j in exist], fed, D))
    return [*first, *second, *rows, *recurrent]


def kf_rtrl(course: Course, draw: int) -> PerStep:
    C, alpha, P = course.C, course.alpha, course.net.states * course.C
    learns = alpha is not None and course.meta
    signs, found = Signs(course.net.seed, "kf-rtrl", draw), []
    pairs: list[tuple[Tensor, Tensor]] = []
    for t in course.steps:
        here = course.locals[t]
        h, w, delta = here.s[:C], course.w[t], course.delta(t)
        each = matrices(course, here)
        pairs = pairs or [(torch.zeros_like(m.fed), m.D.new_zeros(P + C, m.D.shape[1])) for m in each]
        gradient, after = course.zeros(), []
        for (u, A), (places, fed, D), sign in zip(pairs, each, signs.take(len(each)), strict=True):
            moved = torch.cat([here.J @ A[:P], A[P:]])
            p1, p1_inverse = ratio(moved.norm(), u.norm())
            p2, p2_inverse = ratio(D.norm(), fed.norm())
            u, A = p1 * u + sign * p2 * fed, p1_inverse * moved
            A[:P] += sign * p2_inverse * D
            d_delta = -(w @ A[:C] + h @ A[P:])
            for (name, index), number in zip(places, u, strict=True):
                gradient[name][index] = delta * (d_delta if len(d_delta) > 1 else d_delta[0]) * number
            if learns and course.counted[t]:
                A[P:] = A[P:] + alpha * (torch.outer(h, d_delta) + delta * A[:C])  # type: ignore[operator]
            after.append((u, A))
        pairs = after
        found.append(gradient if course.counted[t] else None)
    return found


def expected(course: Course, estimator: str, draw: int = 0) -> tuple[PerStep, Gradients | None]:
    """ĝ(t) of every step, and what is open at the end."""
    net, columns = course.net, columns_of(course.net)
    nothing: PerStep = [None for _ in course.steps]
    match estimator:
        case "bptt":
            return nothing, course.loss_gradient(0, range(len(course.path)))
        case "tbptt-block-3":
            return blocks(course, 3)
    found = {
        "rtrl": lambda: exact(course),
        "tbptt-3": lambda: window(course, 3),
        "elman": lambda: window(course, 1),
        "master-user": lambda: traces(course, columns),
        "master-user-no-meta": lambda: traces(course, columns, meta=False),
        "master-user-groups": lambda: traces(course, random_owner(net)),
        "rflo": lambda: traces(
            course, columns, lambda here: leak(course, here), random_feedback(net.seed, net.columns), False
        ),
        "rflo-symmetric": lambda: traces(course, columns, lambda here: leak(course, here), None, False),
        "snap-3": lambda: snap(course, 3),
        "snap-1": lambda: snap(course, 1),
        "uoro": lambda: rank_one(course, "uoro", draw),
        "nobacktrack": lambda: rank_one(course, "nobacktrack", draw),
        "kf-rtrl": lambda: kf_rtrl(course, draw),
    }[estimator]()
    return found, None


def walk(net: ColumnarNetwork, steps: int, by: float = 0.05) -> list[Theta]:
    """θ(t+1) = θ(t) + a small random step on existing weights: a fixed path."""
    generator, theta, found = torch.Generator().manual_seed(net.seed), net.theta, []
    for _ in range(steps):
        found.append(theta)
        noise = {k: torch.randn(v.shape, generator=generator, dtype=v.dtype) for k, v in theta.items()}
        theta = {k: v + by * noise[k] * net.masks[k] for k, v in theta.items()}
    return found
