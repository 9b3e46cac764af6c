"""A batch of networks in, gradients or metrics of every estimator out: all estimators run on one trajectory.

Two paths give the same numbers: the compiled one (compiled/), which sweeps use, and the pure torch one, which is easy
to read and serves cells and estimators that have no kernels.
"""

from collections.abc import Callable, Iterable
from collections.abc import Sequence as Several

import torch
from torch import Tensor

from colrun.engine.batch import Batch
from colrun.engine.contract import Crossing, compared, gradient
from colrun.engine.metrics import compare, diverged, from_draws, from_sums, sums_of_groups, whole_and_groups
from colrun.engine.run import Compiled, has_kernels
from colrun.engine.trajectory import Trajectory, run
from colrun.errors import InvalidValueError
from colrun.estimators import EstimatorName, get_estimator
from colrun.estimators.base import Estimator, StateCredit
from colrun.estimators.stochastic import Credit, Stochastic, gradient_of, weighted_sum
from colrun.networks.base import Gradients
from colrun.networks.dense import DenseBatch

TRUTH = EstimatorName("bptt")
Metrics = dict[str, Tensor]


def by_family(names: Several[EstimatorName]) -> dict[str, list[int | None]]:
    """Windows of one estimator are found together."""
    families: dict[str, list[int | None]] = {}
    for name in names:
        families.setdefault(name.family, []).append(name.window)
    return families


def estimator_of(family: str, draw: int) -> Estimator:
    """The estimator of that name and, if it is stochastic, of that draw."""
    estimator = get_estimator(family)
    return estimator.with_draw(draw) if isinstance(estimator, Stochastic) else estimator


def torch_gradients(
    trajectory: Trajectory, names: Several[EstimatorName], draw: int = 0
) -> dict[EstimatorName, Gradients]:
    """Gradients (N, …) of every named estimator, in pure torch."""
    found: dict[EstimatorName, Gradients] = {}
    for family, windows in by_family(names).items():
        gradients = estimator_of(family, draw).gradients(trajectory, windows)
        found |= {EstimatorName(family, w): g for w, g in zip(windows, gradients, strict=True)}
    return found


def compiled_gradients(
    batch: Batch, names: Several[EstimatorName], step_size: float | None, draw: int = 0
) -> dict[EstimatorName, Gradients]:
    """The same by compiled kernels."""
    compiled = Compiled(batch, step_size)
    found: dict[EstimatorName, Gradients] = {}
    for family, windows in by_family(names).items():
        estimator = estimator_of(family, draw)
        if isinstance(estimator, StateCredit):
            credits = estimator.compiled_credits(compiled, windows)
            gradients = [gradient(compiled, credit, estimator.crosses) for credit in credits]
        elif isinstance(estimator, Stochastic):
            (drawn,) = estimator.compiled_drawn(compiled.trajectory, [draw])
            gradients = [gradient(compiled, drawn, crosses=True)] * len(windows)
        else:
            gradients = estimator.gradients(compiled.trajectory, windows)
        found |= {EstimatorName(family, w): g for w, g in zip(windows, gradients, strict=True)}
    return found


def credit_gradients(
    batch: Batch, names: Several[EstimatorName], step_size: float | None, draw: int = 0
) -> dict[EstimatorName, Gradients]:
    """Gradients in credit form, by kernels where there are any."""
    if has_kernels(batch):
        return compiled_gradients(batch, names, step_size, draw)
    return torch_gradients(run(batch, step_size), names, draw)


def measure(
    batch: Batch,
    names: Several[EstimatorName],
    step_size: float | None = None,
    draws: int = 1,
    by_group: bool = False,
) -> dict[EstimatorName, Metrics]:
    """The metrics (N,) of every estimator against bptt, with `max_error` and `diverged`.

    `draws` are those of stochastic estimators; `by_group` adds metrics of every group of weights.
    """
    if not has_kernels(batch):
        return measure_torch(batch, names, step_size, draws, by_group)
    compiled = Compiled(batch, step_size)
    (truth,) = _state_credit(TRUTH.family).compiled_credits(compiled, [None])
    max_error = compiled.delta.abs().amax(dim=1)
    found: dict[EstimatorName, Metrics] = {}
    credits: dict[EstimatorName, Crossing] = {}

    def judge(several: list[Credit]) -> list[Tensor]:
        return list(compared(compiled, truth, [(credit, True) for credit in several]).unbind(2))

    for family, windows in by_family(names).items():
        estimator = get_estimator(family)
        if isinstance(estimator, StateCredit):
            for window, credit in zip(windows, estimator.compiled_credits(compiled, windows), strict=True):
                credits[EstimatorName(family, window)] = credit, estimator.crosses
        elif isinstance(estimator, Stochastic):
            groups = estimator.groups(compiled.trajectory, draws)
            drawn = (estimator.compiled_drawn(compiled.trajectory, group) for group in groups)
            found[EstimatorName(family)] = whole_and_groups(over_draws(drawn, judge), from_draws, by_group)
        else:
            known = gradient(compiled, truth, crosses=True)
            for window, each in zip(windows, estimator.gradients(compiled.trajectory, windows), strict=True):
                sums = sums_of_groups(known, each, batch.masks)
                found[EstimatorName(family, window)] = whole_and_groups(sums, from_sums, by_group)
    if credits:
        every = whole_and_groups(compared(compiled, truth, list(credits.values())), from_sums, by_group)
        for n, name in enumerate(credits):
            found[name] = {metric: values[n] for metric, values in every.items()}
    return {name: complete(found[name], max_error) for name in names}


def measure_torch(
    batch: Batch,
    names: Several[EstimatorName],
    step_size: float | None = None,
    draws: int = 1,
    by_group: bool = False,
) -> dict[EstimatorName, Metrics]:
    """As `measure`, in pure torch."""
    trajectory = run(batch, step_size)
    truth = torch_gradients(trajectory, [TRUTH])[TRUTH]

    def judge(several: list[Credit]) -> list[Tensor]:
        return [sums_of_groups(truth, gradient_of(trajectory, credit), batch.masks) for credit in several]

    found = {}
    for name in names:
        estimator = get_estimator(name.family)
        if isinstance(estimator, Stochastic):
            groups = estimator.groups(trajectory, draws)
            drawn = (estimator.drawn(trajectory, group) for group in groups)
            metrics = whole_and_groups(over_draws(drawn, judge), from_draws, by_group)
        else:
            (estimate,) = estimator.gradients(trajectory, [name.window])
            metrics = whole_and_groups(sums_of_groups(truth, estimate, batch.masks), from_sums, by_group)
        found[name] = complete(metrics, trajectory.max_error)
    return found


def over_draws(groups: Iterable[list[Credit]], judge: Callable[[list[Credit]], list[Tensor]]) -> Tensor:
    """The sums (groups, 10, draws + 1, N) of all draws and, last, of their mean; `judge` gives those of each credit.

    Gradients are linear in credits, so that the mean gradient is that of the mean credit.
    """
    sums: list[Tensor] = []
    total: list[Credit] = []
    for drawn in groups:
        sums += judge(drawn)
        total = [weighted_sum([*total, *drawn], 1.0)]
    mean = judge([weighted_sum(total, 1 / len(sums))]) if len(sums) > 1 else sums
    return torch.stack([*sums, *mean], dim=2)


def measure_dense(
    batch: DenseBatch, names: Several[EstimatorName], step_size: float | None = None
) -> dict[EstimatorName, Metrics]:
    """As `measure`, on dense networks, for estimators whose credit form is defined there."""
    truth = dense_gradients(batch, TRUTH, step_size)
    max_error = batch.run(batch.theta, step_size).delta.abs().amax(dim=1)
    masks = {name: torch.ones(value.shape, dtype=torch.bool) for name, value in truth.items()}
    return {name: complete(compare(truth, dense_gradients(batch, name, step_size), masks), max_error) for name in names}


def dense_gradients(batch: DenseBatch, name: EstimatorName, step_size: float | None) -> Gradients:
    """Gradients (N, …) in credit form on dense networks."""
    estimator = get_estimator(name.family)
    if estimator.needs_columns:
        raise InvalidValueError(f"a dense network has no columns, which {name} needs; use master-user-groups.")
    found = estimator.dense_gradients(batch, step_size)
    if found is None:
        raise InvalidValueError(
            f'the credit form of {name} needs a columnar network; use form="online" for a dense one.'
        )
    return found


def complete(metrics: Metrics, max_error: Tensor) -> Metrics:
    """With `max_error` and `diverged`."""
    return metrics | {"max_error": max_error.double(), "diverged": diverged(max_error, metrics)}


def _state_credit(family: str) -> StateCredit:
    estimator = get_estimator(family)
    assert isinstance(estimator, StateCredit)
    return estimator
