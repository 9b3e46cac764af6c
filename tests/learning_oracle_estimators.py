"""The estimators of tests/learning_oracle.py: each from its definition, by full Jacobians."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from colrun.networks.draw import initial_w
from colrun.streams import stream
from tests.learning_oracle import Inside, Learner, Now, full, signs

Estimate = Callable[[Now], Tensor | None]


def rtrl(_: Learner, __: int) -> Estimate:
    M = torch.zeros(0)

    def estimate(now: Now) -> Tensor | None:
        nonlocal M
        M = now.local + (now.J @ M if len(M) else 0)
        return now.on_loss @ M if now.counted else None

    return estimate


def tbptt(_: Learner, window: int) -> Estimate:
    past: list[Now] = []

    def estimate(now: Now) -> Tensor | None:
        past.append(now)
        del past[:-window]
        total, lam = torch.zeros_like(now.theta), now.on_loss
        for step in reversed(past):
            total, lam = total + lam @ step.local, lam @ step.J
        return total if now.counted else None

    return estimate


def tbptt_block(_: Learner, window: int) -> Estimate:
    past: list[Now] = []

    def estimate(now: Now) -> Tensor | None:
        past.append(now)
        if len(past) < window:
            return None
        total = torch.zeros_like(now.theta)
        for last in range(window):
            lam = past[last].on_loss
            for step in reversed(past[: last + 1]):
                if past[last].counted:
                    total, lam = total + lam @ step.local, lam @ step.J
        any_counted = any(step.counted for step in past)
        past.clear()
        return total if any_counted else None

    return estimate


def tbptt_replay(learner: Learner, window: int) -> Estimate:
    past: list[Now] = []
    C = learner.net.C

    def estimate(now: Now) -> Tensor | None:
        past.append(now)
        del past[:-window]
        theta = now.theta.clone().requires_grad_()
        s, w = past[0].s_tm1, past[0].w if learner.meta else now.w
        for n, step in enumerate(past):
            if learner.meta and n > 0:
                w = learner.lms(w, s[:C], past[n - 1].y, past[n - 1].counted)
            s = learner.net.step(theta, step.x, s).s
        y = learner.readout(w, s[:C])
        return -now.delta * torch.autograd.grad(y, theta)[0] if now.counted else None

    return estimate


def master_user(learner: Learner, _: int) -> Estimate:
    return traces(learner, learner.net.owner)


def groups(learner: Learner, _: int) -> Estimate:
    drawn = {
        name: stream(learner.seed, f"groups.{name}").integers(0, learner.net.C, shape).astype(np.float64)
        for name, shape in learner.net.shapes.items()
    }
    return traces(learner, learner.net.flat(drawn).long())


def traces(learner: Learner, owner: Tensor) -> Estimate:
    """Eqs. master_user, final_update and tw_update."""
    C, S, P, alpha = learner.net.C, learner.net.S, learner.net.P, learner.alpha
    e = torch.zeros(S, len(owner)).double()
    TW = torch.zeros(len(owner)).double()
    each = torch.arange(len(owner))

    def estimate(now: Now) -> Tensor | None:
        nonlocal e, TW
        local = now.local[:P].reshape(S, C, -1)[:, owner, each]
        d = now.J[:P, :P].reshape(S, C, S, C)
        d = torch.stack([torch.stack([d[k, range(C), m, range(C)] for m in range(S)]) for k in range(S)])
        e = local + (d[:, :, owner] * e.unsqueeze(0)).sum(1)
        h, w = now.s[:C][owner], now.w[:C][owner]
        found = -now.delta * (w * e[0] + (h * TW if learner.meta else 0))
        if learner.meta and now.counted:
            TW = (1 - alpha * h**2) * TW + alpha * (now.delta - h * w) * e[0]
        return found if now.counted else None

    return estimate


def rflo(symmetric: bool) -> Callable[[Learner, int], Estimate]:
    def made(learner: Learner, _: int) -> Estimate:
        net = learner.net
        C, S, P, owner = net.C, net.S, net.P, net.owner
        b = torch.from_numpy(initial_w(learner.seed, C, "rflo.feedback"))
        e = torch.zeros(S, len(owner)).double()
        each = torch.arange(len(owner))

        def estimate(now: Now) -> Tensor | None:
            nonlocal e
            s_tm1 = now.s_tm1.clone().requires_grad_()
            (leak,) = full(net.step(now.theta, now.x, s_tm1, fixed=now.s_tm1[:C]).s, [s_tm1])
            d = leak.reshape(S, C, S, C)
            d = torch.stack([torch.stack([d[k, range(C), m, range(C)] for m in range(S)]) for k in range(S)])
            local = now.local[:P].reshape(S, C, -1)[:, owner, each]
            e = local + (d[:, :, owner] * e.unsqueeze(0)).sum(1)
            feedback = now.w[:C] if symmetric else b
            return -now.delta * feedback[owner] * e[0] if now.counted else None

        return estimate

    return made


def snap(learner: Learner, order: int) -> Estimate:
    """A state that a weight enters at once is found from masks, and what it reaches then by going on step by step."""
    net = learner.net
    C, S, W = net.C, net.S, net.W
    masks = {name: mask.bool().numpy() for name, mask in net.named(net.mask).items()}
    enters: dict[str, list[set[int]]] = {}
    feeds = {j: {j} for j in range(C)}
    for gate in net.gates:
        for k, j in np.argwhere(masks[f"R.{gate}"]) if f"R.{gate}" in masks else ():
            feeds[int(j)].add(int(k))
        if W > 0 and net.architecture.sees_own_state:
            for k, j, _ in np.argwhere(masks[f"U.{gate}"]):
                feeds[int(j)].add(int(k))
    for name, shape in net.shapes.items():
        found = []
        for place in np.ndindex(*shape):
            i = place[0]
            here = {i}
            if name in "AbBc":
                units = [place[1]] if name in "Bc" else range(W)
                here = {k for k in range(C) for gate in net.gates for unit in units if masks[f"U.{gate}"][k, i, unit]}
            for _ in range(min(order, C + 1) - 1):
                here = set().union(*(feeds[j] for j in here)) if here else here
            found.append(here)
        enters[name] = found
    flat = [each for found in enters.values() for each in found]
    keep = torch.tensor([[float(j in each) for each in flat] for j in range(C)]).double()
    rows = [keep] * S
    if learner.meta:
        last = torch.ones(1, len(flat)) if order > 1 else torch.zeros(1, len(flat))
        rows += [keep if order == 1 else torch.ones_like(keep), last.double()]
    kept = torch.cat(rows)
    M = torch.zeros_like(kept)

    def estimate(now: Now) -> Tensor | None:
        nonlocal M
        M = kept * (now.local + now.J @ M)
        return now.on_loss @ M if now.counted else None

    return estimate


def ratio(above: Tensor, below: Tensor) -> tuple[float, float]:
    if float(above) == 0 or float(below) == 0:
        return 0.0, 0.0
    return math.sqrt(float(above / below)), math.sqrt(float(below / above))


def rank_one(name: str) -> Callable[[Learner, int], Estimate]:
    def made(learner: Learner, _: int) -> Estimate:
        net, noise = learner.net, signs(learner.seed, name)
        P = net.P
        Q = P + net.C + 1 if learner.meta else P
        state, theta = torch.zeros(Q).double(), torch.zeros(len(net.theta)).double()

        def estimate(now: Now) -> Tensor | None:
            nonlocal state, theta
            nu = torch.from_numpy(np.where(noise.random(P) < 0.5, 1.0, -1.0))
            moved = now.J @ state
            found = (now.on_loss @ moved) * theta + now.on_loss @ now.local
            rho_0, inverse_0 = ratio(theta.norm(), moved.norm())
            if name == "uoro":
                local = nu @ now.local[:P]
                rho, inverse = ratio(local.norm(), nu.norm())
                into_state, into_theta = rho * nu, inverse * local
            else:
                own = [now.local[p, net.owner == p % net.C].norm() for p in range(P)]
                scales = torch.tensor([ratio(norm, torch.ones(())) for norm in own], dtype=torch.float64)
                into_state, into_theta = scales[:, 0] * nu, (scales[:, 1] * nu) @ now.local[:P]
            state = rho_0 * moved + torch.cat([into_state, torch.zeros(Q - P).double()])
            theta = inverse_0 * theta + into_theta
            if name == "nobacktrack":
                found = (now.on_loss @ state) * theta
            return found if now.counted else None

        return estimate

    return made


def kf_rtrl(learner: Learner, _: int) -> Estimate:
    """Matrices with their place in θ: a matrix is rows x inputs of flat weights, -1 where there is none."""
    net, noise = learner.net, signs(learner.seed, "kf-rtrl")
    C, W, G, P = net.C, net.W, len(net.gates), net.P
    Q = P + C + 1 if learner.meta else P
    at = {k: v.long() for k, v in net.named(torch.arange(len(net.theta)).double()).items()}
    none = torch.full((C, 1), -1)
    matrices: list[tuple[str, tuple[int, ...], Tensor]] = []
    if W > 0:
        for kind, weight, bias in (("first", "A", "b"), ("second", "B", "c")):
            matrices += [(kind, (i,), torch.cat([at[weight][i], at[bias][i].unsqueeze(1)], 1)) for i in range(C)]
    for g, gate in enumerate(net.gates):
        into = at[f"V.{gate}"] if W == 0 else at[f"U.{gate}"].reshape(C, -1)
        q = at[f"q.{gate}"].unsqueeze(1) if f"q.{gate}" in at else none
        matrices += [("a", (g, i), torch.cat([into, q], 1)[i : i + 1]) for i in range(C)]
    if net.architecture.recurrent:
        matrices += [("r", (g, i), at[f"R.{gate}"][i : i + 1]) for g, gate in enumerate(net.gates) for i in range(C)]
    pairs = [(torch.zeros(m.shape[1]).double(), torch.zeros(Q, m.shape[0]).double()) for *_, m in matrices]

    def estimate(now: Now) -> Tensor | None:
        sizes = {"a": (G, C), "r": (G, C)} | ({"first": (C, W), "second": (C, W)} if W > 0 else {})
        bumps = {kind: torch.zeros(shape).double().requires_grad_() for kind, shape in sizes.items()}
        inside: Inside = net.step(now.theta, now.x, now.s_tm1, bumps)
        D = dict(zip(bumps, full(inside.s, list(bumps.values())), strict=True))
        c = np.where(noise.random(len(matrices)) < 0.5, 1.0, -1.0)
        found = torch.zeros_like(now.theta)
        for n, (kind, index, places) in enumerate(matrices):
            exists = (places[0] >= 0) * net.mask[places[0].clamp(min=0)]
            u, A = pairs[n]
            seen = inside.seen[kind][index].detach() * exists
            local = D[kind].reshape(P, *sizes[kind]).movedim(0, -1)[index].movedim(-1, 0).reshape(P, -1)
            local = torch.cat([local, torch.zeros(Q - P, local.shape[1]).double()])
            moved = now.J @ A
            p1, p1_inverse = ratio(moved.norm(), u.norm())
            p2, p2_inverse = ratio(local.norm(), seen.norm())
            u, A = p1 * u + c[n] * p2 * seen, p1_inverse * moved + c[n] * p2_inverse * local
            pairs[n] = u, A
            for row, credit in enumerate(now.on_loss @ A):
                listed = places[row] >= 0
                found[places[row][listed]] += (credit * u)[listed]
        return found if now.counted else None

    return estimate


def frozen(_: Learner, __: int) -> Estimate:
    return lambda _: None


ESTIMATORS: dict[str, Callable[[Learner, int], Estimate]] = {
    "rtrl": rtrl, "tbptt": tbptt, "tbptt-block": tbptt_block, "tbptt-replay": tbptt_replay, "master-user": master_user,
    "master-user-groups": groups, "elman": lambda learner, _: tbptt(learner, 1), "rflo": rflo(False),
    "rflo-symmetric": rflo(True), "snap": snap, "uoro": rank_one("uoro"), "nobacktrack": rank_one("nobacktrack"),
    "kf-rtrl": kf_rtrl, "frozen": frozen,
}  # fmt: skip
