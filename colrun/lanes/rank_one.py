"""uoro and nobacktrack: ∂τ(t)/∂θ ≈ τ̃(t) ⊗ θ̃(t), with the recursions of estimators/rank_one.py; J is that of θ(t)."""

from colrun.lanes.forward import Steps, forward, jacobian
from colrun.lanes.layout import Net
from colrun.lanes.readout import Learning, Rule, judge, learn_w, loss_by_state, optimise, predict
from colrun.lanes.vectors import Vector, below, fma, inlined, kernel, load, same, sqrt, store
from colrun.lanes.window import credit_rows, enter
from colrun.streams import Array


@inlined
def balance(above: Vector, under: Vector) -> Vector:
    """√(above/under), and 0 where either is 0: see estimators/stochastic.py."""
    return below(0.0, above, below(0.0, under, sqrt(above / under), 0.0), 0.0)


@kernel
def move(Q: int, J: Array, tangent: Array, out: Array) -> Vector:
    """J τ̃ into `out`; gives its norm."""
    square = same(out, 0.0)
    for p in range(Q):
        total = same(out, 0.0)
        for q in range(Q):
            total = fma(load(J, p * Q + q), load(tangent, q), total)
        store(out, p, total)
        square = fma(total, total, square)
    return sqrt(square)


@kernel
def squares_seen(net: Net, steps: Steps, out: Array) -> None:
    """Σ u² over the weights of every row that exist."""
    for row in range(net.start.size - 1):
        total = same(out, 0.0)
        for m in range(net.start[row], net.start[row + 1]):
            u = load(steps.u, net.source[m])
            total = fma(u * load(net.exists, m), u, total)
        store(out, row, total)


@kernel
def own_scales(net: Net, steps: Steps, seen: Array, rho: Array, inverse: Array) -> None:
    """nobacktrack's ρ_i = √‖∂s_i(t)/∂θ_i‖ and 1/ρ_i, over the weights that column i owns."""
    C, S, W, gates = net.C, net.S, net.W, net.G * net.C
    for p in range(net.P):
        store(rho, p, same(rho, 0.0))
    for gate in range(gates):
        row = 2 * C * W + gate
        for k in range(S):
            p, by_a, by_r = k * C + gate % C, load(steps.by_a, gate * S + k), load(steps.by_r, gate * S + k)
            total = fma(by_a * by_a, load(seen, row), load(rho, p))
            store(rho, p, fma(by_r * by_r, load(seen, row + gates), total))
    for j in range(C):
        first = net.reach_start[j]
        many = net.reach_start[j + 1] - first
        for n in range(many):
            p = net.reach[first + n]
            if p % C == j:
                total = load(rho, p)
                for unit in range(W):
                    place, row = net.D_start[j] + unit * many + n, j * W + unit
                    D1, D2 = load(steps.D1, place), load(steps.D2, place)
                    total = fma(D1 * D1, load(seen, row), total)
                    total = fma(D2 * D2, load(seen, C * W + row), total)
                store(rho, p, total)
    for p in range(net.P):
        norm = sqrt(load(rho, p))
        store(rho, p, balance(norm, same(rho, 1.0)))
        store(inverse, p, balance(same(rho, 1.0), norm))


@kernel
def run(
    net: Net, rule: Rule, now: Learning, steps: Steps, each: bool, tangent: Array, theta_tilde: Array,
    work: tuple[Array, ...], noise: Array, x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """`each`: nobacktrack, a scale for each state, and the loss sees the noise of its own step; otherwise uoro."""
    gradient, error, flag, pair, loss, moved, into, rho, inverse, credit, own, seen = work
    P, Q, rows = net.P, net.Q, net.start.size - 1
    for t in range(y.shape[0]):
        enter(net, steps, 0, x, t)
        forward(net, now.theta, now.s, steps, 0)
        jacobian(net, now.theta, steps, 0, now.lms, False)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        loss_by_state(net, rule, now, error, now.w, loss)
        norm_moved = move(Q, steps.J, tangent, moved)
        squares_seen(net, steps, seen)
        if each:
            own_scales(net, steps, seen, rho, inverse)
            for p in range(P):
                store(into, p, load(noise, t * P + p) * load(inverse, p))
        else:
            for p in range(P):
                store(into, p, load(noise, t * P + p))
        credit_rows(net, steps, 0, into, credit, 0)
        credit_rows(net, steps, 0, loss, own, 0)
        square, along = same(loss, 0.0), same(loss, 0.0)
        for row in range(rows):
            value = load(credit, row)
            square = fma(value * value, load(seen, row), square)
        scale = same(loss, 1.0)
        if not each:
            count = same(loss, float(P))
            rho_1, scale = balance(sqrt(square), sqrt(count)), balance(sqrt(count), sqrt(square))
            for p in range(P):
                store(rho, p, rho_1)
            for q in range(Q):
                along = fma(load(loss, q), load(moved, q), along)
        square = same(loss, 0.0)
        for m in range(net.source.size):
            value = load(theta_tilde, m)
            square = fma(value, value, square)
        rho_0, inverse_0 = balance(sqrt(square), norm_moved), balance(norm_moved, sqrt(square))
        for q in range(Q):
            value = rho_0 * load(moved, q)
            store(tangent, q, fma(load(rho, q), load(noise, t * P + q), value) if q < P else value)
        if each:
            for q in range(Q):
                along = fma(load(loss, q), load(tangent, q), along)
        for row in range(rows):
            enters, exact = load(credit, row) * scale, load(own, row)
            for m in range(net.start[row], net.start[row + 1]):
                u, before = load(steps.u, net.source[m]), load(theta_tilde, m)
                after = fma(inverse_0, before, enters * u * load(net.exists, m))
                store(theta_tilde, m, after)
                store(gradient, m, along * after if each else fma(along, before, exact * u))
        if any_counted[t]:
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)
