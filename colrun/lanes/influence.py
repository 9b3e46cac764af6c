"""Learners that carry ∂τ/∂θ forward, or that part of it which they track: rtrl, snap, master-user, rflo.

    M_m(t) = kept ⊙ (∂s(t)/∂π · u_m(t) + J(t) M_m(t-1))        for every weight m, over the states that its row tracks
    ĝ_m(t) = ∂L(t)/∂τ(t) · M_m(t)

rtrl tracks all that a weight can reach, snap what it reaches within k steps, master-user and rflo the own column's
state and, where gradients go through LMS, its w_i; rflo has the leak in place of J and fixed weights for the loss.
"""

from typing import NamedTuple

from colrun.lanes.forward import Steps, forward, jacobian
from colrun.lanes.layout import Net
from colrun.lanes.readout import Learning, Rule, judge, learn_w, loss_by_state, optimise, predict
from colrun.lanes.vectors import fma, inlined, kernel, load, same, store
from colrun.streams import Array


class Tracked(NamedTuple):
    """Which numbers of τ each row follows."""

    start: Array
    """(rows + 1,): where a row's begin in `states`"""
    states: Array
    local: Array
    """Where its ∂s/∂π is: in by_a or by_r for rows of gates, in D1 or D2 for layers; -1 where it is 0"""
    fresh: Array
    """(rows,): whether a row follows others than the row before"""
    memory: Array
    """(rows,): where its part of M begins, weight after weight"""
    kept: Array
    """As `states`, (…, LANES): 1 or 0; lanes differ in what a row reaches"""
    partial: bool
    """Whether `kept` holds any 0"""
    leak: bool


@inlined
def take_local(net: Net, steps: Steps, tracked: Tracked, row: int, out: Array) -> None:
    """∂τ/∂π of a row, of what it follows."""
    units = net.C * net.W
    gates = net.G * net.C
    for n in range(tracked.start[row], tracked.start[row + 1]):
        place = tracked.local[n]
        value = same(out, 0.0)
        if place >= 0:
            if row < units:
                value = load(steps.D1, place)
            elif row < 2 * units:
                value = load(steps.D2, place)
            elif row < 2 * units + gates:
                value = load(steps.by_a, place)
            else:
                value = load(steps.by_r, place)
        store(out, n - tracked.start[row], value)


@kernel
def advance(
    net: Net, steps: Steps, tracked: Tracked, M: Array, loss: Array, gradient: Array,
    J: Array, local: Array, on_loss: Array, new: Array,
) -> None:  # fmt: skip
    """M forward by one step, and the gradient. The last four arrays are room to work in."""
    Q = net.Q
    for row in range(net.start.size - 1):
        first, last = net.start[row], net.start[row + 1]
        if first == last:
            continue
        begin = tracked.start[row]
        many, memory = tracked.start[row + 1] - begin, tracked.memory[row]
        take_local(net, steps, tracked, row, local)
        if tracked.fresh[row]:
            for a in range(many):
                store(on_loss, a, load(loss, tracked.states[begin + a]))
                for b in range(many):
                    place = tracked.states[begin + a] * Q + tracked.states[begin + b]
                    store(J, a * many + b, load(steps.J, place))
        if many == 1:
            decay, enters, out = load(J, 0), load(local, 0), load(on_loss, 0)
            for m in range(first, last):
                e = fma(decay, load(M, memory + m - first), enters * load(steps.u, net.source[m]))
                store(M, memory + m - first, e)
                store(gradient, m, out * e)
            continue
        for m in range(first, last - 1, 2):
            two_forward(many, J, local, load(steps.u, net.source[m]), load(steps.u, net.source[m + 1]), M,
                        memory + (m - first) * many, new)  # fmt: skip
            take_in(many, tracked, begin, new, 0, M, memory + (m - first) * many, on_loss, gradient, m)
            take_in(many, tracked, begin, new, many, M, memory + (m + 1 - first) * many, on_loss, gradient, m + 1)
        if (last - first) % 2 == 1:
            m = last - 1
            one_forward(many, J, local, load(steps.u, net.source[m]), M, memory + (m - first) * many, new)
            take_in(many, tracked, begin, new, 0, M, memory + (m - first) * many, on_loss, gradient, m)


@inlined
def two_forward(many, J, local, u_0, u_1, M, at, new):  # type: ignore[no-untyped-def]
    """J M + local u of two weights; two states at a time, so that what is loaded is used twice."""
    for a in range(0, many - 1, 2):
        enters_0, enters_1 = load(local, a), load(local, a + 1)
        s_00, s_01, s_10, s_11 = enters_0 * u_0, enters_0 * u_1, enters_1 * u_0, enters_1 * u_1
        for b in range(many):
            j_0, j_1 = load(J, a * many + b), load(J, (a + 1) * many + b)
            m_0, m_1 = load(M, at + b), load(M, at + many + b)
            s_00, s_01 = fma(j_0, m_0, s_00), fma(j_0, m_1, s_01)
            s_10, s_11 = fma(j_1, m_0, s_10), fma(j_1, m_1, s_11)
        store(new, a, s_00)
        store(new, many + a, s_01)
        store(new, a + 1, s_10)
        store(new, many + a + 1, s_11)
    if many % 2 == 1:
        a = many - 1
        s_00, s_01 = load(local, a) * u_0, load(local, a) * u_1
        for b in range(many):
            j_0 = load(J, a * many + b)
            s_00, s_01 = fma(j_0, load(M, at + b), s_00), fma(j_0, load(M, at + many + b), s_01)
        store(new, a, s_00)
        store(new, many + a, s_01)


@inlined
def one_forward(many, J, local, u, M, at, new):  # type: ignore[no-untyped-def]
    for a in range(many):
        total = load(local, a) * u
        for b in range(many):
            total = fma(load(J, a * many + b), load(M, at + b), total)
        store(new, a, total)


@inlined
def take_in(
    many: int, tracked: Tracked, begin: int, new: Array, new_at: int, M: Array, at: int, on_loss: Array,
    gradient: Array, m: int,
) -> None:  # fmt: skip
    """The new numbers of one weight into M, as far as they are kept, and its gradient."""
    total = same(M, 0.0)
    for a in range(many):
        value = load(new, new_at + a)
        if tracked.partial:
            value = value * load(tracked.kept, begin + a)
        store(M, at + a, value)
        total = fma(load(on_loss, a), value, total)
    store(gradient, m, total)


@kernel
def run(
    net: Net, rule: Rule, now: Learning, steps: Steps, tracked: Tracked, M: Array, feedback: Array,
    work: tuple[Array, ...], x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """Consecutive steps. `feedback` is w itself, or what stands in its place; `work` is room to work in."""
    gradient, error, flag, pair, loss, on_loss, local, new, J = work
    for t in range(y.shape[0]):
        for n in range(net.inputs):
            store(steps.u, n, load(x, t * net.inputs + n))
        forward(net, now.theta, now.s, steps, 0)
        jacobian(net, now.theta, steps, 0, now.lms, tracked.leak)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        loss_by_state(net, rule, now, error, feedback, loss)
        advance(net, steps, tracked, M, loss, gradient, J, local, on_loss, new)
        if any_counted[t]:
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)
