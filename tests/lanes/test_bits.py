"""What a lane's bits must not depend on: its neighbours, how many there are, and where a run was interrupted."""

import numpy as np
import pytest

from colrun.errors import InvalidValueError
from colrun.lanes.learners import METHODS, parse_learner
from colrun.lanes.run import Lanes
from colrun.lanes.vectors import LANES
from tests.lanes.cases import LEARNERS, architecture, flat, given, run


@pytest.mark.parametrize(("width", "lateral"), [(0, 0.0), (0, 1.0), (3, 1.0)])
@pytest.mark.parametrize("learner", LEARNERS)
def test_neighbours_do_not_matter(learner: str, width: int, lateral: float) -> None:
    """Alone, among 7 and among 100, in another place each time."""
    network = architecture("mgu", 5, width, lateral)
    found = []
    for seeds in ([7], [3, 7, 4, 5, 6, 0, 1], [*range(50), 7, *range(50, 99)]):
        lanes = Lanes(network, learner, seeds, [1e-3] * len(seeds), meta=True)
        sums = run(lanes, given(sorted(set(seeds), key=seeds.index), 60))
        lane = len(seeds) // 2 if len(seeds) > 7 else seeds.index(7)
        assert seeds[lane] == 7
        found.append(
            [flat(lanes.theta(lane)), lanes.w(lane), lanes.states(lane).reshape(-1), sums.errors[lane : lane + 1]]
        )
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_step_sizes_of_one_seed_share_their_noise_and_data() -> None:
    network = architecture("mgu", 4)
    lanes = Lanes(network, "uoro", [2, 2, 2], [1e-3, 1e-2, 1e-3])
    sums = run(lanes, given([2], 200))
    np.testing.assert_array_equal(flat(lanes.theta(0)), flat(lanes.theta(2)))
    assert sums.errors[0] == sums.errors[2] != sums.errors[1]


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_run_that_was_interrupted_goes_on_as_if_it_had_not_been(learner: str, width: int) -> None:
    network, seeds, streams = architecture("lstm", 4, width, 1.0), [0, 1], given([0, 1], 103)
    made = [Lanes(network, learner, seeds, [1e-3, 1e-2], meta=True, optimiser="adam") for _ in range(3)]
    run(made[0], streams)
    run(made[1], streams, 0, 37)
    run(made[1], streams, 37, 58)
    made[2].restore(made[1].state())
    last = [run(each, streams, 58) for each in made[1:]]
    for each in made[1:]:
        for name, value in made[0].state().items():
            np.testing.assert_array_equal(each.state()[name], value, err_msg=name)
    np.testing.assert_array_equal(last[0].errors, last[1].errors)


@pytest.mark.parametrize("learner", LEARNERS)
def test_memory_does_not_grow(learner: str) -> None:
    lanes = Lanes(architecture("mgu", 4), learner, [0], [1e-3])
    before = lanes.nbytes
    run(lanes, given([0], 100))
    assert lanes.nbytes == before


def test_weights_that_do_not_exist_stay_zero() -> None:
    network = architecture("mgu", 5, 3, 1.0)
    lanes = Lanes(network, "uoro", [0, 1], [1e-2, 1e-2])
    group = lanes.groups[0]
    run(lanes, given([0, 1], 200))
    assert group.net.masked
    assert not group.now.theta[group.net.exists == 0].any()
    assert np.count_nonzero(group.now.theta[:, 0]) == group.net.exists[:, 0].sum()


def test_names() -> None:
    assert parse_learner("tbptt-40") == ("tbptt", 40)
    assert parse_learner("tbptt-block-5") == ("tbptt-block", 5)
    assert parse_learner("master-user") == ("master-user", 0)
    assert {parse_learner(name)[0] for name in LEARNERS} == set(METHODS)
    with pytest.raises(InvalidValueError, match="bptt cannot learn online"):
        parse_learner("bptt")
    with pytest.raises(InvalidValueError, match="meta = false"):
        parse_learner("master-user-no-meta")
    with pytest.raises(InvalidValueError, match="needs a number"):
        parse_learner("tbptt")
    with pytest.raises(InvalidValueError, match="Did you mean"):
        parse_learner("master-usr")
    assert LANES == 16
