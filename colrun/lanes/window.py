"""Learners that go back through stored steps: tbptt (elman is its window of 1), tbptt-block, tbptt-replay.

λ(t) = ∂L(t)/∂τ(t),   λ(τ-1) = λ(τ) J(τ)                           J as it was computed at step τ
ĝ_m(t) = Σ_τ (λ(τ) · ∂s(τ)/∂π) u_m(τ)      over the last k steps, or those of a block
"""

from colrun.lanes.forward import Steps, forward, jacobian
from colrun.lanes.layout import Net
from colrun.lanes.readout import Learning, Rule, judge, learn_w, loss_by_state, optimise, predict
from colrun.lanes.vectors import below, fma, inlined, kernel, load, same, store
from colrun.streams import Array


@inlined
def enter(net: Net, steps: Steps, slot: int, x: Array, t: int) -> None:
    """x(t) into u."""
    for n in range(net.inputs):
        store(steps.u, slot * net.seen + n, load(x, t * net.inputs + n))


@kernel
def credit_rows(net: Net, steps: Steps, slot: int, lam: Array, credit: Array, at: int) -> None:
    """λ · ∂s/∂π of all rows at one step."""
    C, S, W, gates = net.C, net.S, net.W, net.G * net.C
    units = C * W
    for j in range(C):
        first = net.reach_start[j]
        many = net.reach_start[j + 1] - first
        for unit in range(W):
            place = slot * net.D_start[C] + net.D_start[j] + unit * many
            by_first, by_second = same(lam, 0.0), same(lam, 0.0)
            for n in range(many):
                value = load(lam, net.reach[first + n])
                by_first = fma(value, load(steps.D1, place + n), by_first)
                by_second = fma(value, load(steps.D2, place + n), by_second)
            store(credit, at + j * W + unit, by_first)
            store(credit, at + units + j * W + unit, by_second)
    for gate in range(gates):
        i, place = gate % C, (slot * gates + gate) * S
        total = same(lam, 0.0)
        for k in range(S):
            total = fma(load(lam, k * C + i), load(steps.by_a, place + k), total)
        store(credit, at + 2 * units + gate, total)
        row = 2 * units + gates + gate
        if net.start[row + 1] > net.start[row]:
            total = same(lam, 0.0)
            for k in range(S):
                total = fma(load(lam, k * C + i), load(steps.by_r, place + k), total)
            store(credit, at + row, total)


@kernel
def pull_back(Q: int, J: Array, at: int, lam: Array, new: Array) -> None:
    """λ ← λ J; `new` is room to work in."""
    for q in range(0, Q - 3, 4):
        a, b, c, d = same(lam, 0.0), same(lam, 0.0), same(lam, 0.0), same(lam, 0.0)
        for p in range(Q):
            value, place = load(lam, p), at + p * Q + q
            a, b = fma(value, load(J, place), a), fma(value, load(J, place + 1), b)
            c, d = fma(value, load(J, place + 2), c), fma(value, load(J, place + 3), d)
        store(new, q, a)
        store(new, q + 1, b)
        store(new, q + 2, c)
        store(new, q + 3, d)
    for q in range(Q // 4 * 4, Q):
        a = same(lam, 0.0)
        for p in range(Q):
            a = fma(load(lam, p), load(J, at + p * Q + q), a)
        store(new, q, a)
    for q in range(Q):
        store(lam, q, load(new, q))


@kernel
def contract(net: Net, steps: Steps, credit: Array, depth: int, newest: int, slots: int, gradient: Array) -> None:
    """Σ_τ credit(τ) u(τ) of every weight, over `depth` steps back from the slot `newest`; credit is (depth, rows)."""
    rows = net.start.size - 1
    for row in range(rows):
        first, last = net.start[row], net.start[row + 1]
        for m in range(first, last - 3, 4):
            n_0, n_1, n_2, n_3 = net.source[m], net.source[m + 1], net.source[m + 2], net.source[m + 3]
            a, b, c, d = same(gradient, 0.0), same(gradient, 0.0), same(gradient, 0.0), same(gradient, 0.0)
            slot = newest
            for n in range(depth):
                value, at = load(credit, n * rows + row), slot * net.seen
                a, b = fma(value, load(steps.u, at + n_0), a), fma(value, load(steps.u, at + n_1), b)
                c, d = fma(value, load(steps.u, at + n_2), c), fma(value, load(steps.u, at + n_3), d)
                slot = slot - 1 if slot > 0 else slots - 1
            store(gradient, m, a)
            store(gradient, m + 1, b)
            store(gradient, m + 2, c)
            store(gradient, m + 3, d)
        for m in range(first + (last - first) // 4 * 4, last):
            a = same(gradient, 0.0)
            slot = newest
            for n in range(depth):
                a = fma(load(credit, n * rows + row), load(steps.u, slot * net.seen + net.source[m]), a)
                slot = slot - 1 if slot > 0 else slots - 1
            store(gradient, m, a)


@kernel
def back(
    net: Net, steps: Steps, lam: Array, credit: Array, depth: int, newest: int, slots: int, gradient: Array, new: Array
) -> None:
    """The gradient of one loss through the last `depth` steps; λ ends at the oldest of them."""
    rows, slot = net.start.size - 1, newest
    for n in range(depth):
        credit_rows(net, steps, slot, lam, credit, n * rows)
        if n + 1 < depth:
            pull_back(net.Q, steps.J, slot * net.Q * net.Q, lam, new)
            slot = slot - 1 if slot > 0 else slots - 1
    contract(net, steps, credit, depth, newest, slots, gradient)


@kernel
def run_sliding(
    net: Net, rule: Rule, now: Learning, steps: Steps, slots: int, work: tuple[Array, ...],
    x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """tbptt-k with k slots."""
    gradient, error, flag, pair, lam, new, credit = work
    for t in range(y.shape[0]):
        slot = (begin + t) % slots
        enter(net, steps, slot, x, t)
        forward(net, now.theta, now.s, steps, slot)
        jacobian(net, now.theta, steps, slot, now.lms, False)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        if any_counted[t]:
            loss_by_state(net, rule, now, error, now.w, lam)
            back(net, steps, lam, credit, min(slots, begin + t + 1), slot, slots, gradient, new)
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)


@kernel
def run_blocks(
    net: Net, rule: Rule, now: Learning, steps: Steps, slots: int, work: tuple[Array, ...], losses: Array,
    x: Array, y: Array, counted: Array, any_counted: Array, begin: int,  # noqa: ARG001
) -> None:  # fmt: skip
    """tbptt-block-k with k slots: `losses` (k, Q) holds ∂L/∂τ of the block's steps, 0 where not counted, and a row that
    says in which lanes any step was counted."""
    gradient, error, flag, pair, lam, new, credit = work
    Q, rows = net.Q, net.start.size - 1
    seen = slots * Q
    for t in range(y.shape[0]):
        slot = (begin + t) % slots
        enter(net, steps, slot, x, t)
        forward(net, now.theta, now.s, steps, slot)
        jacobian(net, now.theta, steps, slot, now.lms, False)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        loss_by_state(net, rule, now, error, now.w, lam)
        flags = load(flag, 0)
        for q in range(Q):
            store(losses, slot * Q + q, below(0.5, flags, load(lam, q), 0.0))
        before = load(losses, seen) if slot > 0 else same(losses, 0.0)
        store(losses, seen, below(0.5, flags, flags, before))
        learn_w(net, rule, now, error, flag)
        if slot == slots - 1:
            for q in range(Q):
                store(lam, q, load(losses, slot * Q + q))
            for n in range(slots):
                at = slots - 1 - n
                credit_rows(net, steps, at, lam, credit, n * rows)
                if at > 0:
                    pull_back(Q, steps.J, at * Q * Q, lam, new)
                    for q in range(Q):
                        store(lam, q, load(lam, q) + load(losses, (at - 1) * Q + q))
            contract(net, steps, credit, slots, slots - 1, slots, gradient)
            store(flag, 0, load(losses, seen) * load(now.alive, 0))
            optimise(net, rule, now, gradient, flag, pair)


@kernel
def run_replay(
    net: Net, rule: Rule, now: Learning, again: Learning, steps: Steps, slots: int, work: tuple[Array, ...],
    past: tuple[Array, ...], x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """tbptt-replay-k: of the last k steps, `past` has s and w before them, x, y and whether they were counted.

    `again` shares θ with `now` and has a state of its own, in which those steps run at the present θ.
    """
    gradient, error, flag, pair, lam, new, credit = work
    past_s, past_w, past_x, past_y, past_flag = past
    P, C, inputs = net.P, net.C, net.inputs
    for t in range(y.shape[0]):
        newest = (begin + t) % slots
        for n in range(P):
            store(past_s, newest * P + n, load(now.s, n))
        for n in range(C + 1):
            store(past_w, newest * (C + 1) + n, load(now.w, n))
        for n in range(inputs):
            store(past_x, newest * inputs + n, load(x, t * inputs + n))
        store(past_y, newest, load(y, t))
        enter(net, steps, 0, x, t)
        forward(net, now.theta, now.s, steps, 0)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        store(past_flag, newest, load(flag, 0))
        if any_counted[t]:
            depth = min(slots, begin + t + 1)
            oldest = (begin + t + 1 - depth) % slots
            made, flags = load(error, 0), load(flag, 0)
            for n in range(P):
                store(again.s, n, load(past_s, oldest * P + n))
            for n in range(C + 1):
                store(again.w, n, load(past_w, oldest * (C + 1) + n) if net.Q > P else load(now.w, n))
            for n in range(depth):
                slot = (oldest + n) % slots
                enter(net, steps, n, past_x, slot)
                forward(net, now.theta, again.s, steps, n)
                jacobian(net, now.theta, steps, n, again.lms, False)
                if net.Q > P and n + 1 < depth:
                    predict(net, again, past_y, slot, error)
                    store(flag, 0, load(past_flag, slot))
                    learn_w(net, rule, again, error, flag)
            store(error, 0, made)
            store(flag, 0, flags)
            loss_by_state(net, rule, again, error, again.w, lam)
            back(net, steps, lam, credit, depth, depth - 1, slots, gradient, new)
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)


@kernel
def run_frozen(
    net: Net, rule: Rule, now: Learning, steps: Steps, work: tuple[Array, ...],
    x: Array, y: Array, counted: Array, any_counted: Array, begin: int,  # noqa: ARG001
) -> None:  # fmt: skip
    """θ stays; w learns."""
    error, flag = work
    for t in range(y.shape[0]):
        enter(net, steps, 0, x, t)
        forward(net, now.theta, now.s, steps, 0)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        learn_w(net, rule, now, error, flag)
