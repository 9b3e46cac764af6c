"""`cost` against counts by hand."""

import gc
from typing import Any

import pytest

from colrun.estimators import ESTIMATORS, get_online, parse_estimator, why_undefined
from colrun.estimators.online import add, zeros
from colrun.experiments import EXPERIMENTS
from colrun.experiments.cost import job as cost
from colrun.experiments.cost.meter import Meter, tensors_of
from colrun.experiments.network import NetworkConfig
from colrun.networks.columnar import build
from colrun.networks.listed import list_laterals
from colrun.testbed import DTYPES, sequence


def config(**changes: Any) -> NetworkConfig:
    found = EXPERIMENTS["cost"].point(**({"columns": 5, "width": 3, "inputs": 4, "steps": 6} | changes))
    assert isinstance(found, NetworkConfig)
    return found


def row(estimator: str, **changes: Any) -> dict[str, Any]:
    return cost.run(config(**changes), [0], [estimator])[0][0]


def test_memory_by_hand() -> None:
    """float32. What is held besides weights: the state (C) and, by method, as said."""
    theta = 5 * (3 * 5 + 3 + 3 * 3 + 3 + 3 + 1)
    traces = row("master-user")
    assert (traces["parameters"], traces["states"]) == (theta, 5)
    owner = 8 * 5  # the columns' numbers
    assert traces["memory"] - 4 * (theta + 5) in range(owner + 1)
    assert row("master-user", cell="lstm")["memory"] > 2 * 4 * theta
    assert row("rtrl")["memory"] == 4 * (5 * theta + 5)
    learning = row("rtrl", step_size=0.01)["memory"]
    assert learning == 4 * (2 * 5 * theta + 5 + 5)  # as much again for w, and w itself
    assert row("master-user", dtype="float64")["memory"] - 8 * (theta + 5) in range(owner + 1)


def test_memory_of_further_estimators_by_hand() -> None:
    """As above; without lateral weights a link leads from each column to itself. Indices have 8 bytes."""
    C, W, inputs = 5, 3, 4
    theta = C * (W * 5 + W + W * W + W + W + 1)
    assert row("elman")["memory"] == 4 * C
    assert row("rflo-symmetric")["memory"] == row("master-user")["memory"]
    assert row("rflo")["memory"] == row("master-user")["memory"] + 4 * C
    assert row("uoro")["memory"] == 4 * (theta + C + 2 * C)  # θ̃, the state, and τ̃
    assert row("nobacktrack")["memory"] - row("uoro")["memory"] in range(8 * C + 1)
    links, listed = 8 * 2 * C, 8 * C  # ends of each link; the link of each R
    one = row("snap-1")["memory"]
    rows, numbers = 8 * 3 * C * W, 8 * 2 * C  # column, unit and state of each; the links once more, sorted
    rest = one - 4 * (theta + C) - links - listed - rows - numbers
    assert rest in range(8 * C * 10 + 1)  # all but M is a few indices for each column
    pairs = C * C * W * 2 + C * C * 2 + C * (inputs + 2) + C * (W + 1) + C * W + C  # each A, then each u
    rows_of = 8 * (C * W + C)
    assert row("kf-rtrl")["memory"] - 4 * (pairs + C) - links - listed in range(rows_of, rows_of + 8 * C + 1)


def test_a_window_holds_as_many_graphs_as_steps() -> None:
    one, two, four = (row(f"tbptt-{k}", steps=3)["memory"] for k in (1, 2, 4))
    assert four - two == 2 * (two - one) > 0
    blocks = [row(f"tbptt-block-{k}", steps=3)["memory"] for k in (2, 3, 4)]  # full in the warm-up
    assert blocks[2] - blocks[1] == blocks[1] - blocks[0] > 0


def test_operations_are_those_of_full_windows() -> None:
    """A step more in the window is one backward pass more, at every step."""
    costs = [row(f"tbptt-{k}")["operations"] for k in (1, 2, 3, 10)]
    assert costs[1] - costs[0] > 0
    assert costs[2] - costs[1] == costs[1] - costs[0] == pytest.approx((costs[3] - costs[2]) / 7)
    assert row("tbptt-10", steps=2)["operations"] == costs[3]
    # Cut or not, every step goes forward once and back once; only sums over steps, one addition per weight, differ.
    whole, blocks = row("bptt"), row("tbptt-block-2")
    assert 0 < whole["operations"] - blocks["operations"] < whole["parameters"]
    assert row("master-user")["operations"] > whole["operations"]


def test_masked_weights_cost_nothing() -> None:
    """Per weight that exists a step costs about the same at all levels; work on all of U would grow sevenfold."""
    shape = {"columns": 12, "width": 3, "inputs": 2}
    for estimator in ("master-user", "tbptt-2", "bptt", "elman", "rflo", "uoro", "nobacktrack"):
        sparse, dense = (row(estimator, lateral=level, **shape) for level in (0.0, "dense"))
        assert dense["parameters"] > 2.5 * sparse["parameters"]
        ratio = [found["operations"] / found["parameters"] for found in (sparse, dense)]
        assert 0.6 < ratio[1] / ratio[0] < 1.2, estimator  # credit goes back through U, and not through A


def test_rows_have_every_column_and_are_the_same_twice() -> None:
    first, second = (row("master-user", lateral=0.5, cell="gru", reading="release") for _ in range(2))
    given = set(vars(config())) | {"seed"}
    assert {column.name for column in EXPERIMENTS["cost"].columns} == set(first) | given
    assert {k: v for k, v in first.items() if k != "seconds"} == {k: v for k, v in second.items() if k != "seconds"}
    assert first["seconds"] > 0
    assert first["operations"] == first["products"] + first["elementwise"] + first["reductions"]
    assert first["diverged"] is False


def plainly(name: str, at: NetworkConfig) -> dict[str, float]:
    """Every step of the warm-up and of the sequence, counted one by one."""
    estimator = parse_estimator(name)
    network, online, warm = build(at.architecture, 0, DTYPES[at.dtype]), get_online(estimator), estimator.window or 0
    if online.takes_lists and network.architecture.survival < 1:
        network = list_laterals(network)
    data = sequence(0, warm + at.steps, at.inputs, DTYPES[at.dtype])
    memory, total, most = online.init(network, at.step_size), zeros(network.theta), 0
    known = [*tensors_of([data, network, memory.readout.network, memory.weights()]), *total.values()]
    with Meter() as meter:
        for t in range(data.steps):
            if t == warm:
                meter.counts.update(dict.fromkeys(meter.counts, 0))
            memory, step = online.step(memory, network.theta, data.x[t], data.y[t])
            add(total, step.gradient)
            del step
            gc.collect()
            most = max(most, meter.held(memory, without=known))
        add(total, online.finish(memory))
    return {kind: count / at.steps for kind, count in meter.counts.items()} | {"memory": most}


@pytest.mark.parametrize("family", [name for name in ESTIMATORS if why_undefined(name, "gru") is None])
@pytest.mark.parametrize(("cell", "step_size"), [("additive", None), ("gru", 0.01)])
def test_steps_that_are_not_taken_cost_what_the_others_do(family: str, cell: str, step_size: float | None) -> None:
    name = f"{family}-3" if ESTIMATORS[family].windowed else family
    changes = {"columns": 3, "width": 2, "inputs": 2, "steps": 5, "lateral": 0.5}
    at = config(cell=cell, step_size=step_size, **changes)
    found = row(name, cell=cell, step_size=step_size, **changes)
    expected = plainly(name, at)
    assert {kind: found[kind] for kind in expected} == expected


def test_a_steady_estimator_takes_few_steps_and_another_one_all(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    walk = cost._walk

    def counting(online: Any, *rest: Any) -> Any:
        for memory in walk(online, *rest):
            taken.append(str(online.name))
            yield memory

    monkeypatch.setattr(cost, "_walk", counting)
    monkeypatch.setattr(cost, "TIMED_SECONDS", 0.0)
    steps = 12
    for name, expected in {
        "tbptt-4": 2 * (1 + 4 + 2),
        "bptt": 2 * (1 + steps),
        "tbptt-block-4": 2 * (1 + 4 + steps),
    }.items():
        taken.clear()
        row(name, columns=2, width=2, inputs=2, steps=steps)
        assert len(taken) == expected, name
