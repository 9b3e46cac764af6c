"""Experiment `alignment`: how close an estimator's gradient is to the true one."""

from collections.abc import Iterator
from dataclasses import replace

from colrun.experiments.alignment.claims import CLAIMS
from colrun.experiments.alignment.figures import EXPLORED, FIGURES
from colrun.experiments.alignment.work import seconds
from colrun.experiments.declare import ESTIMATOR, ORIGIN, Experiment, Skip, Values, flag, real, text, whole
from colrun.experiments.network import SETTING, SHAPE, MeasuredConfig, batch_size, expand_measured, undefined
from colrun.quality import GROUP_METRICS, MEASURED, SPREAD

COLUMNS = (
    *SHAPE,
    *ESTIMATOR,
    *real(*MEASURED[:-1]),
    *whole("compared", "lateral_weights"),
    *real("max_error"),
    *flag("diverged"),
    *SETTING,
    *whole("draws"),
    *real(*SPREAD),
    *flag("by_group"),
    *real(*GROUP_METRICS),  # null unless asked for
    *ORIGIN,
    *text("task"),
)


def expand(values: Values, skip: Skip) -> Iterator[MeasuredConfig]:
    """Networks, and what is measured of them."""
    return (MeasuredConfig(**point) for point in expand_measured(values, skip))


def shared(config: MeasuredConfig) -> MeasuredConfig:
    """All levels and step sizes of a seed are drawn as one, whatever is measured."""
    return replace(config, lateral=0.0, step_size=None, draws=1, by_group=False)


EXPERIMENT = Experiment(
    name="alignment",
    summary="how close an estimator's gradient is to the true one",
    config=MeasuredConfig,
    expand=expand,
    columns=COLUMNS,
    batch_size=batch_size,
    shared=shared,
    seconds=seconds,
    job=f"{__name__}.job",
    numerics=4,
    undefined=undefined,
    by_kernels=True,
    figures=FIGURES,
    claims=CLAIMS,
    explored=EXPLORED,
)
