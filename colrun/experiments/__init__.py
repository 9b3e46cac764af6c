"""Experiments: what one job of each kind is. This table imports no torch; what runs is in the module of that name."""

import hashlib
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from colrun.errors import choose
from colrun.experiments.axes import Axis, Value
from colrun.experiments.grids import (
    ALIGNMENT_AXES,
    DECAY_AXES,
    GROUPING_AXES,
    NETWORK_AXES,
    Config,
    Skip,
    Values,
    alignment_block_size,
    expand_alignment,
    expand_grouping,
    expand_networks,
    expand_plain,
)

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]


class Runner(Protocol):
    """What the module of an experiment offers."""

    SCHEMA: "pa.Schema"
    """Columns of its rows, besides those that every experiment has."""
    KEY: tuple[str, ...]
    """Columns that tell the rows of one job apart."""

    def run(self, config: dict[str, Any], seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:
        """The rows of each seed; the seeds are of one block."""


TIMES = ("seconds",)
"""Columns of rows that no two runs share."""


@dataclass(frozen=True)
class Experiment:
    """One kind of experiment."""

    name: str
    summary: str
    axes: tuple[Axis, ...]
    expand: Callable[[Values, Skip], Iterator[Config]]
    """The points of a grid, each once and completed; reasons for those left out go to `Skip`."""
    block_size: Callable[[dict[str, Any]], int]
    """Networks per batch: by the config only, so that a seed's numbers never depend on which others run with it."""
    family: Callable[[Config], Hashable]
    """Configs of one family share all that a seed draws, and are best run one after another."""
    takes_estimators: bool
    numerics: int
    """Raise it when the numbers of any job may change: older rows are then stale. Golden rows in the tests guard it."""
    by_kernels: bool = False
    """Whether it runs by compiled kernels."""

    def axis(self, name: str) -> Axis:
        """The axis of that name."""
        return next(axis for axis in self.axes if axis.name == name)

    def canonical(self, config: Config) -> str:
        """Parameters and numerics version in the form that is hashed into a job's identity."""
        pairs = ";".join([f"{axis.name}={value!r}" for axis, value in zip(self.axes, config, strict=True)])
        return f"experiment={self.name};numerics={self.numerics};{pairs}"

    def config_id(self, config: Config) -> str:
        """16 hex digits; a job is this and its seed: `3f0c…a1.42`."""
        return hashlib.blake2b(self.canonical(config).encode(), digest_size=8).hexdigest()

    def as_dict(self, config: Config) -> dict[str, Value]:
        """A config by axis name."""
        return {axis.name: value for axis, value in zip(self.axes, config, strict=True)}

    def runner(self) -> Runner:
        """The module that runs it."""
        return cast(Runner, import_module(f"colrun.experiments.{self.name}.job"))


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "alignment",
            "how close an estimator's gradient is to the true one",
            ALIGNMENT_AXES,
            expand_alignment,
            alignment_block_size,
            lambda config: config[:4] + config[6:-2],  # all but lateral level, step size, draws and what is measured
            takes_estimators=True,
            numerics=3,
            by_kernels=True,
        ),
        Experiment(
            "decay",
            "how fast untrained LSTM and GRU cells forget a state of ones",
            DECAY_AXES,
            expand_plain(tuple(axis.name for axis in DECAY_AXES)),
            lambda _: 1,  # networks run one by one: each is a few small products
            lambda config: config,
            takes_estimators=False,
            numerics=1,
        ),
        Experiment(
            "cost",
            "operations, memory and time per step of an estimator's online form",
            NETWORK_AXES,
            expand_networks,
            lambda _: 1,  # an online form runs on one network
            lambda config: config,
            takes_estimators=True,
            numerics=2,
        ),
        Experiment(
            "grouping",
            "alignment of Master-User with columns and with random groups, also on a dense RNN of the same size",
            GROUPING_AXES,
            expand_grouping,
            alignment_block_size,
            lambda config: config[:4] + config[6:],  # all but lateral level and step size
            takes_estimators=True,
            numerics=2,
            by_kernels=True,
        ),
    )
}


def get_experiment(name: object) -> Experiment:
    """The experiment of that name."""
    return EXPERIMENTS[choose(name, EXPERIMENTS, "experiment")]


def all_axes() -> dict[str, Axis]:
    """Every axis of every experiment by name."""
    return {axis.name: axis for experiment in EXPERIMENTS.values() for axis in experiment.axes}
