"""kf-rtrl: ∂τ(t)/∂M ≈ A(t) ⊗ u(t) for every weight matrix M, with the recursions of estimators/kf_rtrl.py.

A matrix is a run of rows that see the same: all units of a layer of a column, or one row of a gate.
"""

from colrun.lanes.forward import Steps, forward, jacobian
from colrun.lanes.layout import Net
from colrun.lanes.rank_one import balance
from colrun.lanes.readout import Learning, Rule, judge, learn_w, loss_by_state, optimise, predict
from colrun.lanes.vectors import fma, kernel, load, same, sqrt, store
from colrun.lanes.window import enter
from colrun.streams import Array


@kernel
def local_by_row(net: Net, steps: Steps, row: int, out: Array, at: int) -> None:
    """∂τ/∂π of one row, (Q,)."""
    C, S, W, gates = net.C, net.S, net.W, net.G * net.C
    units = C * W
    for q in range(net.Q):
        store(out, at + q, same(out, 0.0))
    if row < 2 * units:
        j, unit = row % units // W, row % units % W
        first = net.reach_start[j]
        many = net.reach_start[j + 1] - first
        place = net.D_start[j] + unit * many
        for n in range(many):
            value = load(steps.D1, place + n) if row < units else load(steps.D2, place + n)
            store(out, at + net.reach[first + n], value)
        return
    gate = (row - 2 * units) % gates
    for k in range(S):
        value = load(steps.by_a, gate * S + k) if row < 2 * units + gates else load(steps.by_r, gate * S + k)
        store(out, at + k * C + gate % C, value)


@kernel
def run(
    net: Net, rule: Rule, now: Learning, steps: Steps, first_row: Array, u_start: Array, u: Array, A: Array,
    work: tuple[Array, ...], noise: Array, x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """Matrix n has the rows first_row[n] … first_row[n+1]-1 and its u from u_start[n] on; A is (rows, Q)."""
    gradient, error, flag, pair, loss, moved, local = work
    Q, matrices = net.Q, first_row.size - 1
    for t in range(y.shape[0]):
        enter(net, steps, 0, x, t)
        forward(net, now.theta, now.s, steps, 0)
        jacobian(net, now.theta, steps, 0, now.lms, False)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        loss_by_state(net, rule, now, error, now.w, loss)
        for matrix in range(matrices):
            top, many = first_row[matrix], first_row[matrix + 1] - first_row[matrix]
            begins, u_at = net.start[top], u_start[matrix]
            inputs = u_start[matrix + 1] - u_at
            square_moved, square_local = same(loss, 0.0), same(loss, 0.0)
            for r in range(many):
                local_by_row(net, steps, top + r, local, r * Q)
                for p in range(Q):
                    total = same(loss, 0.0)
                    for q in range(Q):
                        total = fma(load(steps.J, p * Q + q), load(A, (top + r) * Q + q), total)
                    store(moved, r * Q + p, total)
                    square_moved = fma(total, total, square_moved)
                    value = load(local, r * Q + p)
                    square_local = fma(value, value, square_local)
            square_u, square_seen = same(loss, 0.0), same(loss, 0.0)
            for n in range(inputs):
                before, seen = load(u, u_at + n), load(steps.u, net.source[begins + n]) * load(net.exists, begins + n)
                square_u, square_seen = fma(before, before, square_u), fma(seen, seen, square_seen)
            norms = sqrt(square_moved), sqrt(square_u), sqrt(square_local), sqrt(square_seen)
            sign = load(noise, t * matrices + matrix)
            p_1, p_1_inverse = balance(norms[0], norms[1]), balance(norms[1], norms[0])
            p_2, p_2_inverse = sign * balance(norms[2], norms[3]), sign * balance(norms[3], norms[2])
            for n in range(inputs):
                seen = load(steps.u, net.source[begins + n]) * load(net.exists, begins + n)
                store(u, u_at + n, fma(p_1, load(u, u_at + n), p_2 * seen))
            for r in range(many):
                credit = same(loss, 0.0)
                for p in range(Q):
                    value = fma(p_1_inverse, load(moved, r * Q + p), p_2_inverse * load(local, r * Q + p))
                    store(A, (top + r) * Q + p, value)
                    credit = fma(load(loss, p), value, credit)
                for n in range(inputs):
                    store(gradient, net.start[top + r] + n, credit * load(u, u_at + n))
        if any_counted[t]:
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)
