"""Experiment `learning`: does a network learn a task, by an estimator's own gradient?

Rows: one per bin, a hundredth of the run; `step` is where the bin ends.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from colrun.errors import InvalidValueError
from colrun.estimators import parse_estimator, why_no_learner, why_undefined
from colrun.experiments import axes
from colrun.experiments.axes import Value
from colrun.experiments.declare import ESTIMATOR, ORIGIN, Experiment, Skip, Values, flag, real, text, whole
from colrun.experiments.learning.figures import FIGURES
from colrun.experiments.learning.work import seconds
from colrun.experiments.network import SETTING, SHAPE, NetworkConfig, expand_networks
from colrun.networks.cells import CELLS
from colrun.networks.readings import READINGS
from colrun.tasks import TASKS, get_task, split_name, task_names

FROZEN = "frozen"
OPTIMISERS = ("sgd", "rmsprop", "adam")
UNBOUNDED = 1_000
"""Steps after which the additive cell's state has grown out of any use."""
SEEDS = 16
"""In one call, with all their step sizes. A seed's numbers do not depend on the others."""


def read_task(name: str, value: object) -> Value:
    """Any task that there is something to learn in."""
    if not isinstance(value, str):
        raise InvalidValueError(f"{name} is {value!r}; it must be the name of a task, such as cue-8-12.")
    family, _ = split_name(value)
    get_task(value)
    if not TASKS[family].learns:
        raise InvalidValueError(f"there is nothing to learn in task {value}; choose another, such as cue-8-12.")
    return value


@dataclass(frozen=True)
class LearningConfig(NetworkConfig):
    """A network that learns a task, without its seed and its estimator."""

    reading: str = axes.choice(tuple(READINGS), "practical", "named set of switches")
    cell: str = axes.choice(tuple(CELLS), "mgu", "how a column's state is updated")
    columns: int = axes.integer(10, "C, number of columns")
    width: int = axes.integer(0, "W, units per layer of a column; 0: no layers", least=0)
    step_size: float | None = axes.step_size("α of the learning w; by default 0.2/(C+1)")
    steps: int = axes.integer(100_000, "T, steps of learning", most=1_000_000_000)
    inputs: int = axes.integer(None, "number of inputs; by default the task's")
    task: str = axes.axis(read_task, "cue-8-12", "what is learned", tuple(task_names()))
    theta_step_size: float | None = axes.step_size(
        "η, with which θ learns; none: for frozen, which learns w alone", default=1e-3, none="for frozen"
    )
    optimiser: str = axes.choice(OPTIMISERS, "rmsprop", "what makes a step of a gradient")
    meta: bool = axes.switch(False, "gradients go through w's learning, too")
    readout_bias: bool = axes.switch(True, "the readout has a bias w_0")


OWN = ("theta_step_size", "optimiser", "meta", "readout_bias")


def expand(values: Values, skip: Skip) -> Iterator[LearningConfig]:
    for point in expand_networks(values, skip):
        task, columns = get_task(str(point["task"])), int(point["columns"])
        if point["inputs"] is None:
            point["inputs"] = task.inputs if task.inputs is not None else 20
        if point["step_size"] is None:
            point["step_size"] = 0.2 / (columns + 1)
        for own in itertools.product(*(values[name] for name in OWN)):
            config = LearningConfig(**(point | dict(zip(OWN, own, strict=True))))
            refuse(config)
            yield config


def refuse(config: LearningConfig) -> None:
    """What cannot be run, whatever learns."""
    _ = config.architecture
    task = get_task(config.task)
    if task.inputs is not None and config.inputs != task.inputs:
        raise InvalidValueError(f"task {config.task} has {task.inputs} inputs, not {config.inputs}; leave inputs out.")
    if config.cell == "additive" and config.steps > UNBOUNDED:
        raise InvalidValueError(
            f"the state of the additive cell grows without bound, so it learns for at most {UNBOUNDED} steps, not "
            f"{config.steps}; choose mgu, gru or lstm."
        )
    if config.cell == "feedforward" and TASKS[split_name(config.task)[0]].memory:
        raise InvalidValueError(f"the feedforward cell has no memory, and task {config.task} needs one; choose mgu.")


def undefined(config: LearningConfig, estimator: str) -> str | None:
    family = parse_estimator(estimator).family
    why = why_no_learner(family)
    if why is not None:
        raise InvalidValueError(why)
    if (family == FROZEN) != (config.theta_step_size is None):
        return ""  # each has its own points of the grid
    return why_undefined(family, config.cell, learns=True)


def together(config: LearningConfig) -> LearningConfig:
    """All step sizes of θ run side by side."""
    return replace(config, theta_step_size=None)


EXPERIMENT = Experiment(
    name="learning",
    summary="whether a network learns a task online, and how fast",
    config=LearningConfig,
    expand=expand,
    columns=(
        *text("task"),
        *SHAPE,
        *ESTIMATOR,
        *real("theta_step_size"),
        *text("optimiser"),
        *flag("meta"),
        *whole("step"),
        *real("mse"),
        *flag("diverged"),
        *whole("diverged_at"),
        *SETTING,
        *flag("readout_bias"),
        *ORIGIN,
    ),
    batch_size=lambda _: SEEDS,
    shared=together,
    together=together,
    seconds=seconds,
    job=f"{__name__}.job",
    numerics=1,
    along=("step",),
    undefined=undefined,
    by_kernels=True,
    figures=FIGURES,
)
