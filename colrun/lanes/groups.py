"""master-user-groups: every weight tracks one state drawn at random, another one in every lane.

The recursions are those of master-user (estimators/master_user.py). As lanes differ in which numbers they take, they
are gone through one by one.
"""

from colrun.lanes.forward import Steps, forward, jacobian
from colrun.lanes.kronecker import local_by_row
from colrun.lanes.layout import Net
from colrun.lanes.readout import Learning, Rule, judge, learn_w, optimise, predict
from colrun.lanes.vectors import LANES, kernel
from colrun.lanes.window import enter
from colrun.streams import Array


@kernel
def run(
    net: Net, rule: Rule, now: Learning, steps: Steps, owner: Array, e: Array, TW: Array, meta: bool,
    work: tuple[Array, ...], x: Array, y: Array, counted: Array, any_counted: Array, begin: int,
) -> None:  # fmt: skip
    """owner (weights, LANES); e (weights, S, LANES); TW (weights, LANES), used where gradients go through LMS."""
    gradient, error, flag, pair, local = work
    C, S, Q, J = net.C, net.S, net.Q, steps.J
    for t in range(y.shape[0]):
        enter(net, steps, 0, x, t)
        forward(net, now.theta, now.s, steps, 0)
        jacobian(net, now.theta, steps, 0, now.lms, False)
        predict(net, now, y, t, error)
        judge(now, error, counted, t, begin + t, flag)
        for row in range(net.start.size - 1):
            local_by_row(net, steps, row, local, 0)
            for m in range(net.start[row], net.start[row + 1]):
                for lane in range(LANES):
                    o, u = owner[m, lane], steps.u[net.source[m], lane]
                    e_0, e_1 = e[m * S, lane], e[m * S + S - 1, lane]
                    for k in range(S):
                        p = k * C + o
                        value = local[p, lane] * u + J[p * Q + o, lane] * e_0
                        if S == 2:
                            value += J[p * Q + C + o, lane] * e_1
                        e[m * S + k, lane] = value
                    h, w, delta, trace = now.s[o, lane], now.w[o, lane], error[0, lane], e[m * S, lane]
                    influence = w * trace
                    if meta:
                        influence += h * TW[m, lane]
                        if flag[0, lane] > 0.5:
                            alpha = rule.alpha[0, lane]
                            TW[m, lane] = (1 - alpha * h * h) * TW[m, lane] + alpha * (delta - h * w) * trace
                    gradient[m, lane] = -delta * influence
        if any_counted[t]:
            optimise(net, rule, now, gradient, flag, pair)
        learn_w(net, rule, now, error, flag)
