"""A toy experiment, as anybody could add one: a leaky counter, with rows along time.

Its two rates are computed in one call, as step sizes of a learner will be.
"""

from dataclasses import dataclass, replace

from colrun.experiments import axes
from colrun.experiments.declare import Column, Experiment, expand_plain, flag, real, text, whole
from tests.toy.shown import CLAIMS, FIGURES


@dataclass(frozen=True)
class ToyConfig:
    shape: str = axes.choice(("straight", "round"), "straight", "of the curve")
    rate: float = axes.step_size("of the counter")
    steps: int = axes.integer(4, "steps")
    start: int = axes.integer(1, "where it begins", introduced=1)


EXPERIMENT = Experiment(
    name="toy",
    summary="a leaky counter",
    config=ToyConfig,
    expand=expand_plain(ToyConfig),
    columns=(
        *text("shape"),
        *real("rate"),
        *whole("seed", "step"),
        *real("value", "took"),
        *flag("diverged"),
        *whole("steps", "start"),
        Column("colour", "string", "grey"),
    ),
    batch_size=lambda _: 4,
    shared=lambda config: replace(config, rate=0.0),
    together=lambda config: replace(config, rate=0.0),
    seconds=lambda config, _: 1e-3 * config.steps,
    job=f"{__name__}.job",
    numerics=1,
    takes_estimators=False,
    along=("step",),
    times=("took",),
    figures=FIGURES,
    claims=CLAIMS,
)
