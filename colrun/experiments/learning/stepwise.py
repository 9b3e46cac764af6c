"""A learner without kernels, such as one's own: step by step in torch."""

import numpy as np

from colrun.estimators import EstimatorName
from colrun.experiments.learning import LearningConfig
from colrun.experiments.learning.job import Curve
from colrun.learning.curves import run
from colrun.learning.learner import learner
from colrun.networks.columnar import build
from colrun.tasks import get_task
from colrun.testbed import as_dtype


def curve(config: LearningConfig, seed: int, name: EstimatorName) -> Curve:
    network = build(config.architecture, seed, as_dtype(config.dtype))
    learns = learner(
        network, str(name), optimiser=config.optimiser, theta_step_size=config.theta_step_size,
        step_size=config.step_size, meta=config.meta, readout_bias=config.readout_bias,
    )  # fmt: skip
    sums = run(learns, get_task(config.task).source(seed, config.inputs), config.steps)
    errors, counts = np.transpose(sums)
    return Curve(errors, counts, learns.diverged_at)
