"""Learners that go back through stored steps: tbptt (elman is its window of 1), tbptt-block, tbptt-replay, and rtrl.

    λ(t) = ∂L(t)/∂τ(t),   λ(τ-1) = λ(τ) J(τ)                           J as it was computed at step τ
    ĝ_m(t) = Σ_τ (λ(τ) · ∂s(τ)/∂π) u_m(τ)      over the last k steps, or those of a block

rtrl by the same means where a weight reaches many states (Schmidhuber 1992): M is brought up to date every h steps only,
and in between a loss goes back to the last such step t0 and is credited there by M. With λ(t0) carried back likewise,

    ĝ_m(t) = Σ_{τ > t0} (λ(τ) · ∂s(τ)/∂π) u_m(τ) + λ(t0) · M_m(t0)
    M_m(t0+h) = Ψ(t0) M_m(t0) + Σ_τ Ψ(τ) ∂s(τ)/∂π u_m(τ),   Ψ(τ) = J(t0+h) … J(τ+1)

which is rtrl's recursion written out, in O(|θ||h|) operations per step for h of the order of |h| instead of O(|θ||h|²).
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
    x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
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


@kernel
def products(Q: int, J: Array, slots: int, psi: Array, room: Array) -> None:
    """Ψ(τ) of all stored steps, newest last, (slots + 1, Q, Q): slot n holds J(slots-1) … J(n), slot `slots` is 1."""
    for p in range(Q):
        for q in range(Q):
            store(psi, (slots * Q + p) * Q + q, same(psi, 1.0 if p == q else 0.0))
    for n in range(slots):
        slot = slots - 1 - n
        for p in range(Q):
            for q in range(Q):
                store(room, q, load(psi, ((slot + 1) * Q + p) * Q + q))
            pull_back(Q, J, slot * Q * Q, room, room[Q:])
            for q in range(Q):
                store(psi, (slot * Q + p) * Q + q, load(room, q))


@inlined
def effects(net: Net, steps: Steps, row: int, slots: int, psi: Array, out: Array) -> None:
    """Ψ(τ) ∂s(τ)/∂π of one row, (slots, Q): what a step of it is worth at the end."""
    Q, C, S, W, gates, units = net.Q, net.C, net.S, net.W, net.G * net.C, net.C * net.W
    if row >= 2 * units:
        gate = (row - 2 * units) % gates
        i = gate % C
        for slot in range(slots):
            for k in range(S):
                place = (slot * gates + gate) * S + k
                by = load(steps.by_a, place) if row < 2 * units + gates else load(steps.by_r, place)
                for p in range(Q):
                    value = by * load(psi, ((slot + 1) * Q + p) * Q + k * C + i)
                    store(out, slot * Q + p, value if k == 0 else value + load(out, slot * Q + p))
        return
    j = row % units // W
    first = net.reach_start[j]
    many = net.reach_start[j + 1] - first
    for slot in range(slots):
        place = slot * net.D_start[C] + net.D_start[j] + (row % units - j * W) * many
        for p in range(Q):
            total = same(out, 0.0)
            for n in range(many):
                by = load(steps.D1, place + n) if row < units else load(steps.D2, place + n)
                total = fma(by, load(psi, ((slot + 1) * Q + p) * Q + net.reach[first + n]), total)
            store(out, slot * Q + p, total)


@kernel
def fold(net: Net, steps: Steps, slots: int, M: Array, psi: Array, effect: Array, old: Array) -> None:
    """M(t0) → M(t0 + h): Ψ(t0) M and what the h stored steps add, two weights and two states at a time."""
    Q, seen = net.Q, net.seen
    products(Q, steps.J, slots, psi, old)
    for row in range(net.start.size - 1):
        first, last = net.start[row], net.start[row + 1]
        if first == last:
            continue
        effects(net, steps, row, slots, psi, effect)
        for m in range(first, last, 2):
            other = min(m + 1, last - 1)  # an odd one out is done twice
            u_0, u_1 = net.source[m], net.source[other]
            for q in range(Q):
                store(old, q, load(M, m * Q + q))
                store(old, Q + q, load(M, other * Q + q))
            for p in range(0, Q, 2):
                next_p = min(p + 1, Q - 1)
                a, b, c, d = same(M, 0.0), same(M, 0.0), same(M, 0.0), same(M, 0.0)
                for q in range(Q):
                    j_0, j_1, m_0, m_1 = load(psi, p * Q + q), load(psi, next_p * Q + q), load(old, q), load(old, Q + q)
                    a, b, c, d = fma(j_0, m_0, a), fma(j_1, m_0, b), fma(j_0, m_1, c), fma(j_1, m_1, d)
                for slot in range(slots):
                    j_0, j_1 = load(effect, slot * Q + p), load(effect, slot * Q + next_p)
                    m_0, m_1 = load(steps.u, slot * seen + u_0), load(steps.u, slot * seen + u_1)
                    a, b, c, d = fma(j_0, m_0, a), fma(j_1, m_0, b), fma(j_0, m_1, c), fma(j_1, m_1, d)
                store(M, m * Q + p, a)
                store(M, m * Q + next_p, b)
                store(M, other * Q + p, c)
                store(M, other * Q + next_p, d)


@kernel
def run_exact(
    net: Net, rule: Rule, now: Learning, steps: Steps, slots: int, work: tuple[Array, ...], M: Array,
    folding: tuple[Array, ...], x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """rtrl with h slots; M is (weights, Q)."""
    gradient, error, flag, pair, lam, new, credit = work
    psi, effect, old = folding
    Q = net.Q
    for t in range(y.shape[0]):
        slot = (begin + t) % slots
        enter(net, steps, slot, x, t)
        forward(net, now.theta, now.s, steps, slot)
        jacobian(net, now.theta, steps, slot, now.lms, False)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        if any_counted[t]:
            loss_by_state(net, rule, now, error, now.w, lam)
            back(net, steps, lam, credit, slot + 1, slot, slots, gradient, new)
            pull_back(Q, steps.J, 0, lam, new)
            for m in range(net.source.size):
                a = load(gradient, m)
                for q in range(Q):
                    a = fma(load(lam, q), load(M, m * Q + q), a)
                store(gradient, m, a)
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)
        if slot == slots - 1:
            fold(net, steps, slots, M, psi, effect, old)
