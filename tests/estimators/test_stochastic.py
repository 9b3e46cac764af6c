"""uoro, nobacktrack and kf-rtrl: both forms with the same noise, no bias, an error that falls like 1/√n, and draws."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from colrun import compare, dense_network, evaluate, gradients, network, sequence
from colrun.api import as_batch
from colrun.compiling import Array
from colrun.engine.contract import gradient
from colrun.engine.forms import Credit, StochasticForm, weighted_sum
from colrun.engine.measure import measure
from colrun.engine.run import Run
from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS, fast_forms, get_fast, parse_estimator
from colrun.estimators.stochastic import Signs
from colrun.networks.base import Gradients
from colrun.networks.cells import CELLS
from colrun.networks.columnar import ColumnarNetwork
from colrun.testbed import Sequence
from tests.oracle import relative_error

NAMES = [name for name, entry in ESTIMATORS.items() if entry.stochastic]


def stochastic(name: str) -> StochasticForm:
    found = get_fast(name)
    assert isinstance(found, StochasticForm)
    return found


def gradient_of(run: Run, credit: Credit, n: int = 0) -> Gradients:
    """Of one network of the run."""
    return {name: torch.from_numpy(value[n]) for name, value in gradient(run, credit, crosses=True).items()}


def small(
    cell: str, lateral: float | str, reading: str, steps: int, columns: int = 3
) -> tuple[ColumnarNetwork, Sequence]:
    """A network whose first layer has a gradient, so that no estimator is right by doing nothing."""
    for seed in range(100):
        net = network(seed, cell, columns, 2, lateral, 3, reading, init="pytorch")
        seq = sequence(seed, steps, 3)
        if gradients(net, seq)["A"].abs().sum() > 0.1:
            return net, seq
    raise AssertionError("no seed gives a gradient")


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", NAMES)
def test_online_equals_credit_with_the_same_noise(name: str, cell: str) -> None:
    levels: list[float | str] = [0.0, "50%", "dense"]
    for reading, level, step_size in itertools.product(["text", "release"], levels, [None, 0.02]):
        net, seq = small(cell, level, reading, 5)
        online = gradients(net, seq, name, step_size, "online", draw=4)
        error, where = relative_error(gradients(net, seq, name, step_size, draw=4), online)
        assert error < 1e-9, (reading, level, step_size, where)


def every_noise(name: str, run: Run) -> Credit:
    """The expectation of the credit, exactly: the mean over all patterns of signs."""
    _, T, P = run.shape
    # The estimate of each matrix of kf-rtrl depends on its own signs only, so all may have the same.
    shared = name == "kf-rtrl"
    patterns = np.array(list(itertools.product([-1.0, 1.0], repeat=T if shared else T * P)))

    class Every(type(stochastic(name))):  # type: ignore[misc]
        def signs(self, run: Run, draws: list[int], *shape: int) -> Array:  # noqa: ARG002
            noise = patterns.reshape(1, len(patterns), T, -1)
            return np.repeat(noise, shape[0], axis=3) if shared else noise.reshape(1, -1, T, *shape)

    drawn = Every().drawn(run, list(range(len(patterns))))
    assert len(drawn) == len(patterns)
    return weighted_sum(drawn, 1 / len(patterns))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step_size", [None, 0.03])
def test_the_mean_over_all_noise_is_the_gradient(name: str, cell: str, step_size: float | None) -> None:
    """No statistics: every pattern of signs is taken once. 3 steps of 2 states are 64 patterns (LSTM: 4096)."""
    for reading, level in (("text", "dense"), ("release", 0.0)):
        net, seq = small(cell, level, reading, 3, columns=2)
        run = Run(as_batch([net], [seq]), step_size)
        mean = gradient_of(run, every_noise(name, run))
        error, where = relative_error(mean, gradients(net, seq, "bptt", step_size))
        assert error < 1e-10, (reading, where)
        single = gradients(net, seq, name, step_size)
        if cell != "feedforward" or step_size is not None or name == "nobacktrack":
            assert relative_error(single, gradients(net, seq, "bptt", step_size))[0] > 1e-3


def flat_draws(name: str, run: Run, number: int) -> Tensor:
    """Gradients of the one network, (draws, weights)."""
    drawn = stochastic(name).drawn(run, list(range(number)))
    each = (gradient_of(run, credit).values() for credit in drawn)
    return torch.stack([torch.cat([value.flatten() for value in values]) for values in each])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", NAMES)
def test_the_mean_approaches_the_gradient_at_the_rate_of_one_over_root_n(name: str, cell: str) -> None:
    """q_n = n ‖mean of n draws - g‖² / (variance of a draw) has mean 1 for every n if there is no bias and draws are
    independent; with a bias b it grows like n b², and it grows too if the error falls more slowly than 1/√n.

    Asymptotically q_n is a sum of λ_i χ²_1 with Σλ_i = 1. Its tail beyond 1.54 is at most that of χ²_1 (Székely and
    Bakirov 2003); likewise the mean over B blocks is compared with χ²_B/B, the widest case. The bounds are left with
    probability below 1e-6 each. The seeds are fixed, so that the test always says the same.
    """
    net, seq = small(cell, "50%", "text", 6)
    run = Run(as_batch([net], [seq]), 0.02)
    truth = torch.cat([value.flatten() for value in gradients(net, seq, "bptt", 0.02).values()])
    found = flat_draws(name, run, 1600)
    variance = found.var(0).sum()
    for n, (least, most) in {25: (0.35, 2.2), 100: (0.07, 3.8), 400: (0.0, 8.9), 1600: (0.0, 24.0)}.items():
        error = (found.reshape(1600 // n, n, -1).mean(1) - truth).square().sum(-1).mean()
        assert least < float(n * error / variance) < most, n


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_and_a_draw_fix_the_noise(name: str) -> None:
    net, seq = small("gru", "50%", "text", 6)
    other, other_seq = network(50, "gru", 3, 2, "50%", 3, init="pytorch"), sequence(50, 6, 3)
    alone = [gradients(net, seq, name, draw=draw) for draw in range(3)]
    assert relative_error(alone[0], gradients(net, seq, name))[0] == 0
    assert all(relative_error(alone[i], alone[j])[0] > 1e-3 for i, j in ((0, 1), (1, 2), (0, 2)))
    run = Run(as_batch([other, net], [other_seq, seq]))
    for draw, credit in zip((2, 0), stochastic(name).drawn(run, [2, 0]), strict=True):
        assert relative_error(gradient_of(run, credit, 1), alone[draw])[0] < 1e-12
    signs, again = Signs(5, name, 1), Signs(5, name, 1)
    assert torch.equal(signs.take(7, 4), torch.stack([again.take(4) for _ in range(7)]))
    streams = [
        Signs(seed, each, draw).take(64) for seed, each, draw in ((5, name, 1), (6, name, 1), (5, name, 2), (5, "x", 1))
    ]
    assert not any(torch.equal(a, b) for a, b in itertools.combinations(streams, 2))
    assert set(streams[0].tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_metrics_are_means_over_draws_with_bias_and_variance(name: str, step_size: float | None) -> None:
    net, seq = small("mgu", "50%", "release", 6)
    truth = gradients(net, seq, "bptt", step_size)
    flat_truth = torch.cat([value.flatten() for value in truth.values()])
    draws = [gradients(net, seq, name, step_size, draw=draw) for draw in range(5)]
    flat = torch.stack([torch.cat([value.flatten() for value in draw.values()]) for draw in draws])
    single = [evaluate_one(net, seq, name, step_size, draw) for draw in range(5)]
    found = evaluate(net, seq, [name, "tbptt-2"], step_size, draws=5)
    for metric in ("alignment", "mae", "cosine", "norm_ratio", "compared"):
        assert found[name][metric] == pytest.approx(sum(each[metric] for each in single) / 5, rel=1e-9)
    bias = float((flat.mean(0) - flat_truth).norm() / flat_truth.norm())
    variance = float(flat.var(0).sum() / flat_truth.norm() ** 2)
    assert variance > 1e-3
    assert (found[name]["bias"], found[name]["variance"]) == pytest.approx((bias, variance), rel=1e-9)
    once = evaluate(net, seq, [name], step_size)[name]
    assert not {"bias", "variance"} & (once.keys() | found["tbptt-2"].keys())
    assert once["alignment"] == pytest.approx(single[0]["alignment"])


def evaluate_one(
    net: ColumnarNetwork, seq: Sequence, name: str, step_size: float | None, draw: int
) -> dict[str, float]:
    return compare(net, gradients(net, seq, "bptt", step_size), gradients(net, seq, name, step_size, draw=draw))


@pytest.mark.parametrize("name", NAMES)
def test_groups_of_draws_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many draws of large networks are taken in groups that stay within memory."""
    nets = [network(seed, columns=3, width=2, inputs=3, lateral="50%", init="pytorch") for seed in range(2)]
    batch = as_batch(nets, [sequence(seed, 6, 3) for seed in range(2)])
    chosen = parse_estimator(name)
    wanted = measure(batch, fast_forms([chosen]), 0.01, 7)[chosen]
    monkeypatch.setattr("colrun.engine.forms.GROUP_NUMBERS", 2 * 3 * 6 * 6 * 3)
    assert list(stochastic(name).groups(Run(batch), 7)) == [[0, 1, 2], [3, 4, 5], [6]]
    for metric, values in measure(batch, fast_forms([chosen]), 0.01, 7)[chosen].items():
        assert np.allclose(values, wanted[metric], rtol=1e-9), metric


@pytest.mark.parametrize("name", ["uoro", "kf-rtrl"])
def test_without_time_nothing_is_left_to_chance(name: str) -> None:
    """Feedforward with a fixed w: each loss sees its own step only. uoro takes that one exactly, and in kf-rtrl the
    square of the only sign is 1; nobacktrack mixes the states of one step."""
    net, seq = small("feedforward", "50%", "text", 6)
    assert relative_error(gradients(net, seq, name), gradients(net, seq, "bptt"))[0] < 1e-12
    assert evaluate(net, seq, [name], draws=3)[name]["variance"] < 1e-12
    assert evaluate(net, seq, ["nobacktrack"], draws=3)["nobacktrack"]["variance"] > 0.1


def test_a_draw_by_hand() -> None:
    """nobacktrack, two steps of one column of width 1 without recurrence, whose w learns: τ = (h, w).

    Step 1: θ̃ = ε ∂h/∂θ / ρ and v = (ρ ε, 0), so ĝ(1) = -δ w ∂h/∂θ, which is exact. Step 2: 𝒥 v = (0, m) with
    m = α (δ - h w) ρ ε, with δ, h, w of step 1, and ρ0 = √(‖θ̃‖/|m|). Then the noise ε' of step 2 comes in:
    v' = (ρ' ε', ρ0 m) and θ̃' = θ̃/ρ0 + ε' ∂h'/∂θ / ρ', and ĝ(2) = -δ' (w' ρ' ε' + h' ρ0 m) θ̃'.
    """
    alpha = 0.1
    net, seq = network(0, "feedforward", 1, 1, inputs=2, init="pytorch"), sequence(0, 2, 2)
    for value in net.theta.values():
        value.abs_()  # so that every unit is open at both steps
    found = gradients(net, seq, "nobacktrack", alpha)
    epsilon = [float(sign) for sign in Signs(net.seed, "nobacktrack", 0).take(2, 1, 1).flatten()]
    w, delta, h, local = [float(net.w)], [], [], []
    for t in range(2):
        theta = {name: value.clone().requires_grad_() for name, value in net.theta.items()}
        h_t = net.step(theta, seq.x[t], net.initial_state())[0, 0]
        grads = torch.autograd.grad(h_t, list(theta.values()))
        local.append(torch.cat([grad.flatten() for grad in grads]))
        h.append(float(h_t.detach()))
        delta.append(float(seq.y[t]) - w[t] * h[t])
        w.append(w[t] + alpha * delta[t] * h[t])
    rho = [float(each.norm()) ** 0.5 for each in local]
    wanted = -delta[0] * w[0] * local[0]
    pair = epsilon[0] * local[0] / rho[0]
    m = alpha * (delta[0] - h[0] * w[0]) * rho[0] * epsilon[0]
    rho0 = (float(pair.norm()) / abs(m)) ** 0.5
    pair = pair / rho0 + epsilon[1] * local[1] / rho[1]
    wanted = wanted - delta[1] * (w[1] * rho[1] * epsilon[1] + h[1] * rho0 * m) * pair
    assert torch.allclose(torch.cat([value.flatten() for value in found.values()]), wanted, rtol=1e-12)


def test_a_dense_network() -> None:
    net, seq = dense_network(0, "gru", 3, 2, 3), sequence(0, 5, 3)
    assert gradients(net, seq, "uoro", form="online")["A"].isfinite().all()
    for name in ("nobacktrack", "kf-rtrl"):
        with pytest.raises(InvalidValueError, match=f"no columns, which {name} needs; use uoro"):
            gradients(net, seq, name, form="online")


def test_bad_draws() -> None:
    net, seq = network(columns=2, width=2, inputs=3), sequence(0, 5, 3)
    with pytest.raises(InvalidValueError, match="draw is -1"):
        gradients(net, seq, "uoro", draw=-1)
    with pytest.raises(InvalidValueError, match="draws is 0"):
        evaluate(net, seq, ["uoro"], draws=0)
