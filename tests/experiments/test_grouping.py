"""`grouping` against the plain oracle, and against `alignment` where it is the same."""

from typing import Any

import pytest

from colrun import compare, dense_network, sequence
from colrun.errors import InvalidValueError
from colrun.estimators.master_user_groups import random_owner
from colrun.experiments import EXPERIMENTS
from colrun.experiments.alignment import job as alignment
from colrun.experiments.declare import Values
from colrun.experiments.grouping import GroupingConfig
from colrun.experiments.grouping import job as grouping
from colrun.sweep.plan import Skipped
from tests import oracle

GROUPING = EXPERIMENTS["grouping"]
SMALL: dict[str, Any] = {"columns": 4, "width": 3, "inputs": 5, "steps": 8, "dtype": "float64", "lateral": "dense"}


def configs(skipped: Skipped, **changes: Any) -> list[GroupingConfig]:
    values: Values = {axis.name: [axis.default] for axis in GROUPING.axes}
    for name, value in (SMALL | changes).items():
        values[name] = value if isinstance(value, list) else [value]
    return list(GROUPING.expand(values, skipped))


@pytest.mark.parametrize("reading", ["text", "release"])
@pytest.mark.parametrize(("cell", "step_size"), [("additive", None), ("gru", 0.01), ("lstm", None)])
def test_a_dense_rnn_against_the_oracle(reading: str, cell: str, step_size: float | None) -> None:
    (config,) = configs(Skipped(), reading=reading, cell=cell, step_size=step_size, network="dense-rnn")
    found = grouping.run(config, [3, 7], ["master-user-groups"])
    for seed in (3, 7):
        net = dense_network(seed, cell, 4, 3, 5, reading)
        data = sequence(seed, 8, 5)
        truth = oracle.bptt(net, data, step_size)
        wanted = compare(net, truth, oracle.groups(net, data, step_size, random_owner(net)))
        (row,) = found[seed]
        for metric, value in wanted.items():
            assert row[metric] == pytest.approx(value, rel=1e-8), metric
        assert (row["estimator"], row["window"], row["lateral_weights"]) == ("master-user-groups", None, None)
        assert row["diverged"] is False


def test_columnar_rows_are_those_of_alignment() -> None:
    (config,) = configs(Skipped(), lateral=0.5)
    names = ["master-user", "master-user-groups"]
    assert grouping.run(config, [0, 1], names) == alignment.run(config, [0, 1], names)
    own, others = ({column.name for column in EXPERIMENTS[kind].columns} for kind in ("grouping", "alignment"))
    assert own == {*others, "network"}


def test_a_dense_rnn_stands_at_the_dense_level_only() -> None:
    skipped = Skipped()
    found = configs(skipped, lateral=[0.0, 0.5, "dense"], network=["columnar", "dense-rnn"])
    assert [(c.lateral, c.network) for c in found] == [
        (0.0, "columnar"),
        (0.5, "columnar"),
        (3.0, "columnar"),
        (3.0, "dense-rnn"),
    ]
    assert sorted(skipped.reasons) == [
        "a dense RNN has no lateral ratio 0.5: it stands at level dense only",
        "a dense RNN has no lateral ratio 0: it stands at level dense only",
    ]


def test_an_estimator_that_needs_columns_is_refused_on_a_dense_rnn() -> None:
    (config,) = configs(Skipped(), network="dense-rnn")
    with pytest.raises(InvalidValueError, match="no columns, which master-user needs"):
        grouping.run(config, [0], ["master-user"])


def test_a_seed_has_the_same_bits_alone_and_among_others() -> None:
    (config,) = configs(Skipped(), network="dense-rnn", dtype="float32")
    together = grouping.run(config, [0, 1, 2], ["master-user-groups"])
    assert grouping.run(config, [1], ["master-user-groups"])[1] == together[1]
