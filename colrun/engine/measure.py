"""A batch of networks in, gradients or metrics of every estimator out: all estimators run on one trajectory."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from colrun.compiling import Array
from colrun.engine.batch import Batch
from colrun.engine.contract import Crossing, compared, gradient
from colrun.engine.forms import Credit, FastForm, Gradients, StochasticForm, weighted_sum
from colrun.engine.metrics import Metrics, complete, from_draws, from_sums, sums_of_groups, whole_and_groups
from colrun.engine.run import Run

Form = FastForm | StochasticForm
Asked = tuple[Form, int | None]
"""An estimator's fast form and the number after its name, None where there is none."""
Name = TypeVar("Name", bound=Hashable)


def by_form(asked: Mapping[Name, Asked]) -> list[tuple[Form, dict[Name, int | None]]]:
    """Windows of one estimator are found together."""
    found: dict[int, tuple[Form, dict[Name, int | None]]] = {}
    for name, (form, window) in asked.items():
        found.setdefault(id(form), (form, {}))[1][name] = window
    return list(found.values())


@np.errstate(all="ignore")  # a network may diverge
def gradients(
    batch: Batch, asked: Mapping[Name, Asked], step_size: float | None = None, draw: int = 0
) -> dict[Name, Gradients]:
    """Gradients (N, …) of every estimator; of a stochastic one those of that draw."""
    run = Run(batch, step_size)
    found: dict[Name, Gradients] = {}
    for form, windows in by_form(asked):
        if isinstance(form, StochasticForm):
            (drawn,) = form.drawn(run, [draw])
            found |= dict.fromkeys(windows, gradient(run, drawn, crosses=True))
        else:
            for name, credit in zip(windows, form.credits(run, list(windows.values())), strict=True):
                found[name] = credit if isinstance(credit, dict) else gradient(run, credit, form.crosses)
    return found


@np.errstate(all="ignore")
def measure(
    batch: Batch,
    asked: Mapping[Name, Asked],
    step_size: float | None = None,
    draws: int = 1,
    by_group: bool = False,
) -> dict[Name, Metrics]:
    """The metrics (N,) of every estimator against the exact gradient, with `max_error` and `diverged`.

    `draws` are those of stochastic estimators; `by_group` adds metrics of every group of weights.
    """
    run = Run(batch, step_size)
    truth = run.truth
    known: Gradients = {}
    found: dict[Name, Metrics] = {}
    credits: dict[Name, Crossing] = {}
    for form, windows in by_form(asked):
        if isinstance(form, StochasticForm):
            drawn = (form.drawn(run, group) for group in form.groups(run, draws))
            found |= dict.fromkeys(windows, whole_and_groups(over_draws(run, truth, drawn), from_draws, by_group))
            continue
        for name, credit in zip(windows, form.credits(run, list(windows.values())), strict=True):
            if isinstance(credit, dict):
                known = known or gradient(run, truth, crosses=True)
                found[name] = whole_and_groups(sums_of_groups(known, credit, batch.masks), from_sums, by_group)
            else:
                credits[name] = credit, form.crosses
    if credits:
        every = whole_and_groups(compared(run, truth, list(credits.values())), from_sums, by_group)
        for n, name in enumerate(credits):
            found[name] = {metric: values[n] for metric, values in every.items()}
    max_error = np.abs(run.delta).max(axis=1).astype(np.float64)
    return {name: complete(found[name], max_error) for name in asked}


def over_draws(run: Run, truth: Array, groups: Iterable[list[Credit]]) -> Array:
    """The sums (groups, 10, draws + 1, N) of all draws and, last, of their mean.

    Gradients are linear in credits, so that the mean gradient is that of the mean credit.
    """
    sums: list[Array] = []
    total: list[Credit] = []
    for drawn in groups:
        sums.append(compared(run, truth, [(credit, True) for credit in drawn]))
        total = [weighted_sum([*total, *drawn], 1.0)]
    number = sum(part.shape[2] for part in sums)
    mean = compared(run, truth, [(weighted_sum(total, 1 / number), True)]) if number > 1 else sums[0]
    return np.concatenate([*sums, mean], axis=2)
