"""Experiment `cost`: operations, memory and time per step of an estimator's online form."""

from collections.abc import Iterator

from colrun.experiments.cost.claims import CLAIMS
from colrun.experiments.cost.figures import FIGURES
from colrun.experiments.cost.work import seconds
from colrun.experiments.declare import ESTIMATOR, ORIGIN, Experiment, Skip, Values, flag, real, text, whole
from colrun.experiments.network import SETTING, SHAPE, NetworkConfig, expand_networks, undefined


def expand(values: Values, skip: Skip) -> Iterator[NetworkConfig]:
    return (NetworkConfig(**point) for point in expand_networks(values, skip))


EXPERIMENT = Experiment(
    name="cost",
    summary="operations, memory and time per step of an estimator's online form",
    config=NetworkConfig,
    expand=expand,
    columns=(
        *SHAPE,
        *ESTIMATOR,
        *real("operations", "products", "elementwise", "reductions", "copies"),
        *whole("memory"),
        *real("seconds"),
        *whole("parameters", "states", "lateral_weights"),
        *flag("diverged"),
        *SETTING,
        *ORIGIN,
        *text("task"),
    ),
    batch_size=lambda _: 1,  # an online form runs on one network
    shared=lambda config: config,
    seconds=seconds,
    job=f"{__name__}.job",
    numerics=2,
    undefined=undefined,
    times=("seconds",),
    figures=FIGURES,
    claims=CLAIMS,
)
