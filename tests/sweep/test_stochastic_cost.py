"""What the cost model says of stochastic estimators."""

import pytest

from colrun.experiments import get_experiment
from colrun.experiments.axes import Value


def seconds(estimators: tuple[str, ...], draws: int, **values: Value) -> float:
    experiment = get_experiment("alignment")
    return experiment.seconds(experiment.point(draws=draws, **values), estimators)


@pytest.mark.parametrize("name", ["uoro", "nobacktrack", "kf-rtrl"])
def test_draws_cost_in_proportion(name: str) -> None:
    one, ten, hundred = (seconds((name,), draws) for draws in (1, 10, 100))
    assert 2 < ten / one < 12
    assert 7 < hundred / ten < 11
    assert seconds((name, "master-user"), 10) < ten + seconds(("master-user",), 10)  # the truth is found once


def test_draws_cost_nothing_where_nothing_is_drawn() -> None:
    assert seconds(("master-user", "tbptt-40"), 10) == seconds(("master-user", "tbptt-40"), 1)


def test_kf_rtrl_grows_faster_than_the_rank_one_estimators() -> None:
    """Its A has a row for every state, and J multiplies all of it."""
    ratio = [seconds(("kf-rtrl",), 10, columns=C) / seconds(("uoro",), 10, columns=C) for C in (5, 20, 50)]
    assert ratio[0] < ratio[1] < ratio[2]
    assert ratio[2] > 5
