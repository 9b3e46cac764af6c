"""Prediction y = w·h + w_0, its error, LMS, who has diverged, and what an optimiser makes of a gradient."""

from typing import NamedTuple

import numpy as np

from colrun.lanes.layout import Net
from colrun.lanes.vectors import (
    LANES,
    absolute,
    all_within,
    below,
    fast_sqrt,
    fma,
    is_single,
    kernel,
    load,
    quotient,
    same,
    sqrt,
    store,
    widen,
)
from colrun.streams import Array

OPTIMISERS = {"sgd": 0, "rmsprop": 1, "adam": 2, "sum": 3}
"""`sum` moves nothing and adds up the gradient in v: a learner with a step size of 0 whose gradient is asked for."""
LARGEST_ERROR = 1000.0
BETA_1, BETA_2, SMALL = 0.9, 0.999, 1e-8
TINY = 1e-36
"""Where v is 0 so is ĝ; 1/√v must be finite then."""
CORRECTED = 40_000
"""Updates after which bias corrections are 1 to the last bit: 0.999^40000 = 4e-18."""


def corrections(beta: float, dtype: np.dtype[np.floating]) -> Array:
    """1/(1 - β^n) for n = 0, 1, …; n = 0 is never used."""
    return (1 / (1 - beta ** np.arange(1, CORRECTED))).repeat([2] + [1] * (CORRECTED - 2)).astype(dtype)


class Learning(NamedTuple):
    """All that a group of lanes carries from step to step, but for the memory of its estimator."""

    theta: Array
    v: Array
    """The optimiser's second moment, and the first"""
    m: Array
    s: Array
    w: Array
    """(C + 1, LANES), w_0 last"""
    lms: Array
    """(C + 1, Q, LANES): the derivatives of w(t+1) by τ(t); empty where gradients do not go through LMS"""
    updates: Array
    """(LANES,): updates of θ so far"""
    born: Array
    """(weights, LANES): the number of updates when a weight came into being"""
    alive: Array
    ended: Array
    """(LANES,): the step at which a lane diverged, or -1"""
    errors: Array
    """(1, LANES) in float64: Σ δ² over counted steps, and their number"""
    counts: Array


class Rule(NamedTuple):
    """How lanes learn."""

    optimiser: int
    eta: Array
    alpha: Array
    bias: float
    """1 if there is a w_0, else 0"""
    grown: bool
    """Whether any weight came into being after the first step"""
    first: Array
    """Bias corrections by the number of updates, of both moments"""
    second: Array


@kernel
def predict(net: Net, now: Learning, y: Array, t: int, error: Array) -> None:
    """δ(t)."""
    total = load(y, t) - load(now.w, net.C)
    for i in range(net.C):
        total = total - load(now.w, i) * load(now.s, i)
    store(error, 0, total)


@kernel
def judge(now: Learning, error: Array, counted: Array, t: int, step: int, flag: Array) -> None:
    """Which lanes learn from this step, as 1 or 0; those that have diverged end here, and are 0 from then on."""
    flags = load(counted, t) * load(now.alive, 0)
    store(flag, 0, flags)
    worst = below(0.5, flags, absolute(load(error, 0)), 0.0)
    if not all_within(worst, LARGEST_ERROR):
        for lane in range(LANES):
            if flag[0, lane] > 0.5 and not abs(error[0, lane]) <= LARGEST_ERROR:
                flag[0, lane] = 0.0
                now.alive[0, lane] = 0.0
                now.ended[lane] = step
                for array in (now.theta, now.v, now.m, now.s, now.w, error):
                    for n in range(array.shape[0]):
                        array[n, lane] = 0.0
    counted_error = widen(below(0.5, load(flag, 0), load(error, 0), 0.0))
    store(now.errors, 0, fma(counted_error, counted_error, load(now.errors, 0)))
    store(now.counts, 0, load(now.counts, 0) + widen(load(flag, 0)))


@kernel
def loss_by_state(net: Net, rule: Rule, now: Learning, error: Array, feedback: Array, out: Array) -> None:
    """∂L(t)/∂τ(t): -δ w on h, and where gradients go through LMS -δ h on w, -δ on w_0. `feedback` is w, or else."""
    minus = 0.0 - load(error, 0)
    for p in range(net.C):
        store(out, p, minus * load(feedback, p))
    for p in range(net.C, net.P):
        store(out, p, same(out, 0.0))
    if net.Q > net.P:
        for i in range(net.C):
            store(out, net.P + i, minus * load(now.s, i))
        store(out, net.P + net.C, minus * rule.bias)


@kernel
def learn_w(net: Net, rule: Rule, now: Learning, error: Array, flag: Array) -> None:
    """LMS, and before it its derivatives where they are wanted."""
    C, P, Q, bias, delta = net.C, net.P, net.Q, rule.bias, load(error, 0)
    flags = load(flag, 0)
    if Q > P:
        gain = load(rule.alpha, 0) * flags
        for i in range(C + 1):
            seen = same(now.s, bias) if i == C else load(now.s, i)
            step = gain * seen
            for j in range(C):
                by_h, by_w = 0.0 - step * load(now.w, j), 0.0 - step * load(now.s, j)
                if i == j:
                    by_h, by_w = fma(gain, below(0.5, flags, delta, 0.0), by_h), by_w + 1.0
                store(now.lms, i * Q + j, by_h)
                store(now.lms, i * Q + P + j, by_w)
            store(now.lms, i * Q + P + C, (1.0 if i == C else 0.0) - step * bias)
    step = below(0.5, flags, load(rule.alpha, 0) * delta, 0.0)
    for i in range(C):
        store(now.w, i, fma(step, load(now.s, i), load(now.w, i)))
    store(now.w, C, fma(step, bias, load(now.w, C)))


@kernel
def optimise(net: Net, rule: Rule, now: Learning, gradient: Array, flag: Array, room: Array) -> None:
    """One update of θ in the lanes flagged. `room` is two rows to work in.

    Lanes that are not flagged add 0: stores under a mask are slow.
    """
    eta, flags = load(rule.eta, 0), load(flag, 0)
    last = rule.second.size - 1
    for lane in range(LANES):
        now.updates[lane] += flag[0, lane] > 0.5
        room[0, lane] = rule.first[min(now.updates[lane], last)]
        room[1, lane] = rule.second[min(now.updates[lane], last)]
    first, second = load(room, 0), load(room, 1)
    share_1, share_2 = flags * (1 - BETA_1), flags * (1 - BETA_2)
    for m in range(net.source.size):
        g = below(0.5, flags, load(gradient, m), 0.0)
        if net.masked:
            g = g * load(net.exists, m)
        if rule.grown:
            for lane in range(LANES):
                room[0, lane] = rule.first[min(now.updates[lane] - now.born[m, lane], last)]
                room[1, lane] = rule.second[min(now.updates[lane] - now.born[m, lane], last)]
            first, second = load(room, 0), load(room, 1)
        if rule.optimiser == 3:
            store(now.v, m, load(now.v, m) + g)
            continue
        if rule.optimiser > 0:
            v = load(now.v, m)
            v = fma(share_2, g * g - v, v)
            store(now.v, m, v)
            if rule.optimiser == 2:
                moment = load(now.m, m)
                moment = fma(share_1, g - moment, moment)
                store(now.m, m, moment)
                g = flags * moment * first
            if is_single(v):  # g / (√v̂ + ε) by 1/√v̂, for which machines have a fast estimate
                root = quotient(1.0, fast_sqrt(fma(v, second, TINY)))
                g = quotient(g * root, fma(root, SMALL, 1.0))
            else:
                g = g / (sqrt(v * second) + SMALL)
        store(now.theta, m, fma(0.0 - eta, g, load(now.theta, m)))
