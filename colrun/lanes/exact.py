"""rtrl where weights reach many states: M is brought up to date every h steps only (Schmidhuber 1992).

In between, a loss goes back through the stored steps (window.py) to t0, when M last was, and is credited there by M:

    ĝ_m(t) = Σ_{τ > t0} (λ(τ) · ∂s(τ)/∂π) u_m(τ) + λ(t0) · M_m(t0)
    M_m(t0+h) = Ψ(t0) M_m(t0) + Σ_τ Ψ(τ) ∂s(τ)/∂π u_m(τ),   Ψ(τ) = J(t0+h) … J(τ+1)

That is rtrl's recursion written out, in O(|θ||h|) operations per step for h of the order of |h| instead of O(|θ||h|²).
"""

from colrun.lanes.forward import Steps, forward, jacobian
from colrun.lanes.layout import Net
from colrun.lanes.readout import Learning, Rule, judge, learn_w, loss_by_state, optimise, predict
from colrun.lanes.vectors import fma, inlined, kernel, load, same, store
from colrun.lanes.window import back, enter, pull_back
from colrun.streams import Array


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
def credit_by_M(Q: int, lam: Array, M: Array, gradient: Array) -> None:
    """ĝ += λ(t0) M(t0), four weights at a time."""
    weights = gradient.shape[0]
    for m in range(0, weights - 3, 4):
        a, b, c, d = load(gradient, m), load(gradient, m + 1), load(gradient, m + 2), load(gradient, m + 3)
        for q in range(Q):
            value, at = load(lam, q), m * Q + q
            a, b = fma(value, load(M, at), a), fma(value, load(M, at + Q), b)
            c, d = fma(value, load(M, at + 2 * Q), c), fma(value, load(M, at + 3 * Q), d)
        store(gradient, m, a)
        store(gradient, m + 1, b)
        store(gradient, m + 2, c)
        store(gradient, m + 3, d)
    for m in range(weights // 4 * 4, weights):
        a = load(gradient, m)
        for q in range(Q):
            a = fma(load(lam, q), load(M, m * Q + q), a)
        store(gradient, m, a)


@kernel
def run(
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
            credit_by_M(Q, lam, M, gradient)
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)
        if slot == slots - 1:
            fold(net, steps, slots, M, psi, effect, old)
