"""A batch of networks in, metrics of every estimator out: all estimators run on one trajectory."""

from collections.abc import Sequence as Several

from torch import Tensor

from colrun.estimators import EstimatorName, get_estimator
from colrun.metrics import compare, diverged
from colrun.networks.base import Gradients
from colrun.networks.contraction import stacked_masks
from colrun.networks.trajectory import Batch, Trajectory, run


def credit_gradients(trajectory: Trajectory, names: Several[EstimatorName]) -> dict[EstimatorName, Gradients]:
    """Gradients (N, …) of every named estimator; windows of one estimator are found together."""
    found: dict[EstimatorName, Gradients] = {}
    for family in dict.fromkeys(name.family for name in names):
        windows = [name.window for name in names if name.family == family]
        gradients = get_estimator(family).gradients(trajectory, windows)
        found |= {EstimatorName(family, w): g for w, g in zip(windows, gradients, strict=True)}
    return found


def measure(
    batch: Batch, names: Several[EstimatorName], step_size: float | None = None
) -> dict[EstimatorName, dict[str, Tensor]]:
    """The metrics (N,) of every estimator against bptt, with `max_error` and `diverged`."""
    trajectory = run(batch, step_size)
    truth = credit_gradients(trajectory, [EstimatorName("bptt")])[EstimatorName("bptt")]
    masks = stacked_masks(batch)
    found = {}
    for name, estimate in credit_gradients(trajectory, names).items():
        metrics = compare(truth, estimate, masks)
        bad = diverged(trajectory.max_error, truth) | diverged(trajectory.max_error, estimate)
        found[name] = metrics | {"max_error": trajectory.max_error.double(), "diverged": bad}
    return found
