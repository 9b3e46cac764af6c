"""Experiment `grouping`: Master-User with columns against random groups of weights."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from colrun.experiments import axes
from colrun.experiments.alignment import COLUMNS
from colrun.experiments.alignment.work import seconds
from colrun.experiments.declare import Experiment, Skip, Values, text
from colrun.experiments.grouping.figures import FIGURES
from colrun.experiments.network import MeasuredConfig, batch_size, expand_measured, undefined

DENSE_RNN = "dense-rnn"


@dataclass(frozen=True)
class GroupingConfig(MeasuredConfig):
    network: str = axes.choice(("columnar", DENSE_RNN), "columnar", "columns, or an ordinary RNN of the same size")


def expand(values: Values, skip: Skip) -> Iterator[GroupingConfig]:
    """As alignment; a dense RNN masks nothing, so it stands at the level `dense` only."""
    for point in expand_measured(values, skip):
        for network in values["network"]:
            if network == DENSE_RNN and point["lateral"] != point["columns"] - 1:
                skip(f"a dense RNN has no lateral ratio {point['lateral']:g}: it stands at level dense only")
            else:
                yield GroupingConfig(**point, network=str(network))


def shared(config: GroupingConfig) -> GroupingConfig:
    return replace(config, lateral=0.0, step_size=None)


EXPERIMENT = Experiment(
    name="grouping",
    summary="alignment of Master-User with columns and with random groups, also on a dense RNN of the same size",
    config=GroupingConfig,
    expand=expand,
    columns=(*COLUMNS, *text("network")),
    batch_size=batch_size,
    shared=shared,
    seconds=seconds,
    job=f"{__name__}.job",
    numerics=2,
    undefined=undefined,
    by_kernels=True,
    figures=FIGURES,
)
