"""With a step size of 0 a learner's summed gradient is that of SPEC's estimator."""

import numpy as np
import pytest

import colrun
from colrun.lanes.run import Lanes
from colrun.networks.architecture import Architecture
from colrun.tasks import stream
from tests.lanes.cases import stacked

STEPS = 12
NAMES = [
    "rtrl", "tbptt-1", "tbptt-3", "tbptt-replay-3", "tbptt-block-4", "master-user", "master-user-groups", "elman",
    "rflo", "rflo-symmetric", "snap-1", "snap-2", "uoro", "nobacktrack", "kf-rtrl",
]  # fmt: skip


@pytest.mark.parametrize("step_size", [None, 1e-3])
@pytest.mark.parametrize("cell", ["mgu", "lstm"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_a_learner_that_does_not_learn(name: str, cell: str, step_size: float | None) -> None:
    """On the paper's test-bed, dense; where w learns, gradients go through LMS."""
    network = colrun.network(2, cell, 4, 3, "dense", 5, "release")
    sequence = colrun.sequence(2, STEPS, 5)
    lanes = Lanes(
        Architecture.of(cell, 4, 3, "dense", 5, "release"), name, [2], [0.0], optimiser="sum",
        meta=step_size is not None, alpha=step_size or 0.0, readout_bias=False, dtype="float64",
    )  # fmt: skip
    lanes.run(*stacked([stream("random", 2, STEPS, 5)]))
    known = name.replace("-replay", "")  # at a fixed θ the steps that run again are those that were
    for tensor, value in colrun.gradients(network, sequence, known, step_size=step_size).items():
        np.testing.assert_allclose(lanes.summed(0)[tensor], value.numpy(), rtol=1e-9, atol=1e-9, err_msg=tensor)
