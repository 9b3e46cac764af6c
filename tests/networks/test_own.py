"""Own networks: torch's cells, a module and a function, under every estimator that needs no columns."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import colrun
from colrun import Sequence, compare, evaluate, gradients, own_network, sequence
from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS, EstimatorName, get_online, parse_estimator
from colrun.estimators.online import add, run, zeros
from colrun.estimators.rank_one import OnlineRankOne
from colrun.estimators.stochastic import Signs
from colrun.networks.cells import CELLS
from colrun.networks.own import OwnNetwork
from colrun.quality import MEASURED
from tests.oracle import relative_error

ANY = ["bptt", "rtrl", "tbptt-3", "tbptt-block-3", "elman", "uoro", "master-user-groups"]
STILL = [name for name, entry in ESTIMATORS.items() if not entry.only_learns]
COLUMNS = sorted({f"{name}-3" if ESTIMATORS[name].windowed else name for name in STILL} - set(ANY))
STEPS = 6


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def stream(inputs: int, steps: int = STEPS) -> Sequence:
    return Sequence(numbers(steps, inputs, seed=1), numbers(steps, seed=2))


class Leaky(torch.nn.Module):
    """A state of two tensors of different shapes, and a buffer that is no parameter."""

    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3 + 4, 4, dtype=torch.float64)
        self.mix = torch.nn.Parameter(numbers(2, 3, 4) / 3)
        self.register_buffer("scale", torch.tensor(0.5, dtype=torch.float64))

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        h, memory = state
        h = torch.tanh(self.inner(torch.cat([x, h])) + memory.sum((0, 1)))
        return h, self.scale * memory + torch.sin(self.mix * h)


def function_step(theta: dict[str, Tensor], x: Tensor, state: Tensor) -> Tensor:
    return torch.tanh(theta["V"] @ x + theta["R"] @ state)


def own(kind: str) -> OwnNetwork:
    torch.manual_seed(3)
    match kind:
        case "gru":
            return own_network(torch.nn.GRUCell(3, 4, dtype=torch.float64), seed=5)
        case "lstm":
            return own_network(torch.nn.LSTMCell(3, 4, dtype=torch.float64), seed=5)
        case "module":
            return own_network(Leaky(), state=(numbers(4), numbers(2, 3, 4)), inputs=3, seed=5)
        case "function":
            return own_network(function_step, {"V": numbers(4, 3), "R": numbers(4, 4)}, numbers(4), 3, seed=5)
    theta = {"V": numbers(4, 3), "R": numbers(4, 4), "out": numbers(4, seed=4)}
    return own_network(function_step, theta, numbers(4), 3, predict=lambda theta, h: torch.sin(theta["out"] @ h))


KINDS = ["gru", "lstm", "module", "function", "predicting"]
STEP_SIZES = [None, 0.03]
CASES = [(kind, alpha) for kind in KINDS for alpha in STEP_SIZES if kind != "predicting" or alpha is None]


def oracle_bptt(net: OwnNetwork, seq: Sequence, alpha: float | None) -> dict[str, Tensor]:
    """In the user's own state, without anything of colrun's."""
    theta = {name: value.clone().requires_grad_() for name, value in net.theta.items()}
    state: Any = net.as_given(net.initial_state())
    w, loss = net.w, torch.zeros((), dtype=torch.float64)
    for x, y, counted in zip(seq.x, seq.y, seq.counted, strict=True):
        state = net.own_step(theta, x, state)
        h = state[0] if isinstance(state, tuple) else state
        delta = y - (w @ h.flatten() if w is not None else net.own_predict(theta, state))  # type: ignore[misc]
        if counted:
            loss = loss + delta**2 / 2
        if w is not None and alpha is not None and counted:
            w = w + alpha * delta * h.flatten()
    grads = torch.autograd.grad(loss, list(theta.values()), materialize_grads=True)
    return dict(zip(theta, grads, strict=True))


@pytest.mark.parametrize(("kind", "alpha"), CASES)
def test_exact_estimators_are_exact(kind: str, alpha: float | None) -> None:
    net, seq = own(kind), stream(3)
    some = Sequence(seq.x, seq.y, [True, False, True, True, False, True])
    for shown in (seq, some):
        wanted = oracle_bptt(net, shown, alpha)
        assert all(value.any() for value in wanted.values())
        for estimator in ("bptt", "rtrl", f"tbptt-{STEPS}", f"tbptt-block-{STEPS}"):
            for form in ("online", "credit"):
                error, name = relative_error(gradients(net, shown, estimator, alpha, form), wanted)
                assert error < 1e-10, (estimator, name)


@pytest.mark.parametrize("kind", KINDS)
def test_rtrl_and_a_long_window_are_one_at_every_step_while_theta_moves(kind: str) -> None:
    net, seq = own(kind), stream(3)
    alpha = None if kind == "predicting" else 0.03
    rtrl, window, bptt = (get_online(parse_estimator(name)) for name in ("rtrl", "tbptt-50", "bptt"))
    one, other, all_of_it = (online.init(net, alpha) for online in (rtrl, window, bptt))
    theta, total = net.theta, zeros(net.theta)
    for t in range(STEPS):
        one, found = rtrl.step(one, theta, seq.x[t], seq.y[t])
        other, wanted = window.step(other, theta, seq.x[t], seq.y[t])
        all_of_it, _ = bptt.step(all_of_it, theta, seq.x[t], seq.y[t])
        error, name = relative_error(found.gradient, wanted.gradient)
        assert error < 1e-9, (t, name)
        add(total, found.gradient)
        theta = {name: value - 0.05 * found.gradient[name] for name, value in theta.items()}
    error, name = relative_error(total, bptt.finish(all_of_it))
    assert error < 1e-9, name


@pytest.mark.parametrize(("cell", "alpha"), list(itertools.product(CELLS, STEP_SIZES)))
def test_a_columnar_network_wrapped_as_an_own_one(cell: str, alpha: float | None) -> None:
    """The same function of the same weights: every estimator that needs no columns gives the same, noise and all."""
    net, seq = colrun.network(2, cell, 3, 2, "60%", 4, "release"), sequence(2, 7, 4)
    start = net.initial_state()
    wrapped = own_network(
        lambda theta, x, state: tuple(net.step(theta, x, torch.stack(state)).unbind()),
        net.theta,
        tuple(start.unbind()),
        4,
        seed=net.seed,
    )
    assert wrapped.w is not None
    assert torch.equal(wrapped.w, net.w)
    for estimator in ANY:
        if estimator == "master-user-groups" and cell == "lstm":
            continue  # groups of the pair (h_i, m_i) there, of single numbers here
        wanted = gradients(net, seq, estimator, alpha, "online", draw=1)
        assert wanted["A"].any()
        error, name = relative_error(gradients(wrapped, seq, estimator, alpha, draw=1), wanted)
        assert error < 1e-10, (estimator, name)


@pytest.mark.parametrize("predicts", [False, True])
def test_the_mean_over_all_signs_of_uoro_is_the_gradient(predicts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two states and three steps: every pattern of signs is taken once."""
    theta = {"V": numbers(2, 1), "R": numbers(2, 2)}
    seq = stream(1, 3)
    predict: Callable[..., Tensor] | None = (
        (lambda theta, h: torch.sin(h.sum() + theta["V"][0, 0])) if predicts else None
    )
    net = own_network(function_step, theta, numbers(2), 1, predict=predict)
    alpha = None if predicts else 0.1
    patterns = list(itertools.product([-1.0, 1.0], repeat=6))
    total = zeros(net.theta)
    for pattern in patterns:
        rows = iter(torch.tensor(pattern, dtype=torch.float64).reshape(3, 1, 2))
        monkeypatch.setattr(Signs, "copy", lambda self: self)
        monkeypatch.setattr(Signs, "take", lambda self, *shape, rows=rows: next(rows))  # noqa: ARG005
        add(total, run(get_online(EstimatorName("uoro")), net, seq, alpha).gradient)
    mean = {name: value / len(patterns) for name, value in total.items()}
    error, name = relative_error(mean, oracle_bptt(net, seq, alpha))
    assert error < 1e-10, name
    assert issubclass(type(get_online(EstimatorName("uoro"))), OnlineRankOne)


@pytest.mark.parametrize("kind", KINDS)
def test_every_estimator_runs_or_says_why_not(kind: str) -> None:
    net, seq = own(kind), stream(3)
    truth = gradients(net, seq)
    found = evaluate(net, seq, ANY, draws=2)
    for estimator in ANY:
        assert all(value.isfinite().all() for value in gradients(net, seq, estimator).values())
        assert found[estimator]["diverged"] is False
    assert found["rtrl"]["cosine"] == pytest.approx(1)
    assert found["uoro"]["variance"] > 0
    wanted = compare(net, truth, gradients(net, seq, "elman"))
    assert {name: found["elman"][name] for name in MEASURED} == pytest.approx(wanted)
    assert compare(truth, gradients(net, seq, "elman")) == wanted
    for estimator in COLUMNS:
        with pytest.raises(InvalidValueError, match=f"an own network has no columns, which {estimator} needs; use "):
            gradients(net, seq, estimator)


def test_a_network_that_predicts_by_itself_has_no_w() -> None:
    net, seq = own("predicting"), stream(3)
    with pytest.raises(InvalidValueError, match="predicts by itself, so there is no w that could learn"):
        gradients(net, seq, "bptt", 0.1)


def test_parameters_are_a_copy_and_are_left_alone() -> None:
    cell = torch.nn.GRUCell(3, 4, dtype=torch.float64)
    net = own_network(cell)
    with torch.no_grad():
        cell.weight_hh.fill_(7.0)
    before = {name: value.clone() for name, value in net.theta.items()}
    assert not (before["weight_hh"] == 7.0).any()
    gradients(net, stream(3), "rtrl", 0.1)
    assert all(torch.equal(value, before[name]) for name, value in net.theta.items())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"step": lambda _theta, _x, s: s[:2]},
            r"gave a float64 tensor of shape \(2,\), and its state before was .*\(4,\)",
        ),
        ({"step": lambda _theta, _x, s: s.float()}, "gave a float32 tensor .* shapes and dtypes must stay the same"),
        ({"step": lambda _theta, _x, s: (s, s)}, "shapes and dtypes must stay the same"),
        ({"step": lambda *_: None}, "step of this network gave None"),
        ({"step": lambda _theta, _x, s: s / 0}, "one step .* gives a state that is not finite"),
        ({"step": lambda theta, x, _: theta["V"] @ x[:2]}, "one step with 3 inputs .* raised RuntimeError"),
        ({"step": 7}, "step is 7; it must be a torch module or a function"),
        ({"state": numbers(4) / 0}, "initial state holds a value that is not finite"),
        ({"state": None}, "state is None; it must be the initial state"),
        ({"state": ()}, "it must be the initial state, a tensor or a tuple of tensors"),
        ({"state": numbers(4).float()}, "the state is torch.float32 and the parameters are torch.float64"),
        ({"theta": {"V": torch.ones(4, 3, dtype=torch.int64)}}, "parameter V is torch.int64; it must be float32"),
        ({"theta": {"V": numbers(4, 3), "R": numbers(4, 4).float()}}, "they must share one dtype"),
        ({"theta": {}}, "theta must be a dict of named tensors"),
        ({"theta": None}, "theta must be a dict of named tensors"),
        ({"inputs": 2}, "one step with 2 inputs and the initial state raised"),
        ({"inputs": None}, "inputs is missing"),
        ({"seed": -1}, "seed is -1"),
        ({"predict": lambda _theta, s: s}, r"predict of this network gave a float64 tensor of shape \(4,\)"),
    ],
)
def test_what_cannot_be_used_is_refused(given: dict[str, Any], message: str) -> None:
    fine = {"step": function_step, "theta": {"V": numbers(4, 3), "R": numbers(4, 4)}, "state": numbers(4), "inputs": 3}
    own_network(**fine)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match=message):
        own_network(**fine | given)  # type: ignore[arg-type]


def test_modules_and_inputs_that_do_not_fit() -> None:
    with pytest.raises(InvalidValueError, match="leave theta out"):
        own_network(torch.nn.GRUCell(3, 4), theta={"a": numbers(1)})
    with pytest.raises(InvalidValueError, match="state is None"):
        own_network(Leaky(), inputs=3)
    with pytest.raises(InvalidValueError, match="the sequence has 4 inputs, the network takes 3"):
        gradients(own("gru"), stream(4))
    with pytest.raises(InvalidValueError, match='build the network with dtype="float64", or'):
        gradients(own_network(torch.nn.GRUCell(3, 4)), stream(3))


def test_a_step_that_changes_its_mind_is_refused_when_it_does() -> None:
    net = own_network(lambda theta, x, s: s * theta["a"] if x.sum() == 0 else s[:1], {"a": numbers(2)}, numbers(2), 3)
    with pytest.raises(InvalidValueError, match="shapes and dtypes must stay the same"):
        gradients(net, stream(3))


def test_compare_takes_any_two_dicts() -> None:
    truth = {"a": torch.tensor([1.0, -2.0]), "b": torch.tensor([[3.0]])}
    found = compare(truth, {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([[3.0]])})
    assert found["alignment"] == pytest.approx(2 / 3)
    assert found["mae"] == pytest.approx(4 / 3)
    with pytest.raises(InvalidValueError, match="estimate does not have the names and shapes of the truth"):
        compare(truth, {"a": truth["a"]})
    with pytest.raises(InvalidValueError, match="estimate is a list; it must be gradients"):
        compare(truth, [1])  # type: ignore[call-overload]
