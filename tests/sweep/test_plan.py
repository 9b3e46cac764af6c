"""From grids to jobs: which there are, what each is called, and how they are packed."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colrun.experiments import EXPERIMENTS, get_experiment
from colrun.sweep import plan
from colrun.sweep.file import Sweep, parse_sweep
from colrun.sweep.plan import Skipped, Unit, entries, units
from tests.runs import DECAY, TINY


def parse(content: dict[str, Any], *grids: dict[str, Any]) -> Sweep:
    return parse_sweep({**content, **({"grid": list(grids)} if grids else {})}, "x.toml", "", {})


def levels(columns: int, lateral: list[Any]) -> tuple[list[Any], dict[str, int]]:
    skipped = Skipped()
    found = entries(parse({**TINY, "columns": columns, "lateral": lateral}), skipped)
    return [entry.experiment.as_dict(entry.config)["lateral"] for entry in found], skipped.reasons


def test_levels_above_dense_are_skipped_with_the_reason() -> None:
    found, reasons = levels(3, ["0%", "100%", "200%", "201%", 50])
    assert found == [0.0, 1.0, 2.0]
    assert reasons == {
        "lateral ratio 2.01 is above that of the dense network, C-1 = 2 for 3 column(s)": 1,
        "lateral ratio 50 is above that of the dense network, C-1 = 2 for 3 column(s)": 1,
    }


def test_equal_levels_are_one() -> None:
    assert levels(3, ["200%", 2, "dense", 2.0, "10%", 0.1, "0.1"]) == ([2.0, 0.1], {})


def test_one_column_has_no_neighbours() -> None:
    found, reasons = levels(1, ["0%", "dense", "0.1%", "10%"])
    assert found == [0.0]
    assert sorted(reasons.values()) == [1, 1]


def test_an_estimator_is_skipped_where_it_is_not_defined() -> None:
    content = {**TINY, "columns": 3, "lateral": 0, "cell": ["additive", "feedforward"]}
    whole = {**content, "estimators": ["master-user", "rflo"]}
    reason = (
        "rflo is not defined on the feedforward cell: its trace has the leak of a recurrent state, and the feedforward "
        "cell carries no state"
    )
    for sweep in (parse(whole), parse(content, {"estimators": ["rflo"]}, {"estimators": ["master-user"]})):
        skipped = Skipped()
        found = {entry.config.cell: set(entry.estimators) for entry in entries(sweep, skipped)}
        assert found == {"additive": {"master-user", "rflo"}, "feedforward": {"master-user"}}
        assert skipped.reasons == {reason: 1}
    nothing = parse({**content, "cell": "feedforward"}, {"estimators": ["rflo"]}, {"estimators": ["rflo-symmetric"]})
    assert list(entries(nothing)) == []


def test_the_reading_completes_the_switches_and_equal_settings_are_one() -> None:
    sweep = parse({**TINY, "columns": 3, "lateral": 0, "reading": ["text", "release"], "own_state": [True, False]})
    found = [entry.experiment.as_dict(entry.config) for entry in entries(sweep)]
    assert [(c["reading"], c["own_state"], c["init"], c["state_bias"]) for c in found] == [
        ("text", True, "xavier", False),
        ("text", False, "xavier", False),
        ("release", True, "pytorch", True),
        ("release", False, "pytorch", True),
    ]
    named = parse({**TINY, "columns": 3, "lateral": 0, "init": "xavier", "mask_recurrence": True})
    plain = parse({**TINY, "columns": 3, "lateral": 0})
    assert [e.id for e in entries(named)] == [e.id for e in entries(plain)]


def wanted(sweep: Sweep) -> dict[tuple[str, int], set[str]]:
    """job → estimators, over all entries; no job may want an estimator twice."""
    found: dict[tuple[str, int], set[str]] = {}
    for entry in entries(sweep):
        for seed in entry.seeds:
            names = found.setdefault((entry.id, seed), set())
            assert not names & set(entry.estimators)
            names |= set(entry.estimators)
    return found


def test_overlapping_grids_merge_exactly() -> None:
    base = {"name": "u", "steps": 10, "inputs": 5, "columns": 3, "width": 2}
    first = {"estimators": ["master-user", "tbptt-1"], "seeds": "0:4", "lateral": ["0%", "50%"]}
    second = {"estimators": ["tbptt-1", "tbptt-2"], "seeds": "2:6", "lateral": ["50%", "dense"]}
    found = wanted(parse(base, first, second))
    zero, half, dense = (
        next(iter({e.id for e in entries(parse({**base, **first, "lateral": level}))}))
        for level in ("0%", "50%", "dense")
    )
    expected: dict[tuple[str, int], set[str]] = {}
    expected |= {(zero, seed): {"master-user", "tbptt-1"} for seed in range(4)}
    expected |= {(half, seed): {"master-user", "tbptt-1"} for seed in range(2)}
    expected |= {(half, seed): {"master-user", "tbptt-1", "tbptt-2"} for seed in (2, 3)}
    expected |= {(half, seed): {"tbptt-1", "tbptt-2"} for seed in (4, 5)}
    expected |= {(dense, seed): {"tbptt-1", "tbptt-2"} for seed in range(2, 6)}
    assert found == expected


def test_overlapping_grids_of_huge_ranges_are_merged_without_counting_them() -> None:
    sweep = parse(
        {**TINY, "columns": 3, "lateral": 0}, {"seeds": "0:900000000000"}, {"seeds": "5", "estimators": ["bptt"]}
    )
    found = [(str(entry.seeds), entry.estimators) for entry in entries(sweep)]
    assert found == [
        ("0:5,6:900000000000", ("master-user", "tbptt-3")),
        ("5", ("master-user", "tbptt-3", "bptt")),
    ]


names = st.lists(st.sampled_from(["bptt", "tbptt-1", "tbptt-2", "master-user"]), min_size=1, max_size=3, unique=True)
grid = st.fixed_dictionaries(
    {
        "estimators": names,
        "seeds": st.lists(st.integers(0, 12), min_size=1, max_size=6),
        "lateral": st.lists(st.sampled_from(["0%", "50%", "dense", 2.0]), min_size=1),
        "columns": st.lists(st.integers(1, 4), min_size=1, max_size=2),
    }
)


@settings(max_examples=60, deadline=None)
@given(st.lists(grid, min_size=1, max_size=4))
def test_a_union_of_grids_is_the_union_of_their_jobs(grids: list[dict[str, Any]]) -> None:
    base = {"name": "u", "steps": 10, "inputs": 5, "width": 2}
    union: dict[tuple[str, int], set[str]] = {}
    for one in grids:
        for job, estimators in wanted(parse(base, one)).items():
            union.setdefault(job, set()).update(estimators)
    assert wanted(parse(base, *grids)) == union


def test_decay_grids_overlap_too() -> None:
    sweep = parse(DECAY, {"seeds": "0:3"}, {"seeds": "2:5", "cell": "gru"})
    assert sum(len(entry.seeds) for entry in entries(sweep)) == 2 * 3 + 2 * 5


# Identity. These literals are results on people's disks: if one changes, every stored result is orphaned.
ALIGNMENT_ID = "74139d3a899c889f"
DECAY_ID = "0f822cb937917cee"


def only(content: dict[str, Any]) -> plan.Entry:
    (entry,) = entries(parse(content))
    return entry


ONE = {**TINY, "columns": 3, "lateral": "50%"}
ONE_DECAY = {**DECAY, "hidden": 3, "cell": "lstm"}


def test_identity_is_a_documented_hash() -> None:
    entry = only(ONE)
    assert entry.experiment.canonical(entry.config) == (
        "experiment=alignment;numerics=4;reading='text';cell='additive';columns=3;width=2;lateral=0.5;step_size=None;"
        "dtype='float32';steps=10;inputs=5;init='xavier';own_state=True;state_bias=False;mask_own_recurrence=False;"
        "mask_recurrence=True;draws=1;by_group=False"
    )
    assert entry.id == ALIGNMENT_ID
    decay = only(ONE_DECAY)
    assert decay.experiment.canonical(decay.config) == (
        "experiment=decay;numerics=1;cell='lstm';hidden=3;bias=False;dtype='float32';steps=4;inputs=3"
    )
    assert decay.id == DECAY_ID


ALIGNMENT_CHANGES: list[dict[str, Any]] = [
    {"reading": "release"}, {"cell": "gru"}, {"columns": 4}, {"width": 3}, {"lateral": 0.51}, {"step_size": 0.01},
    {"step_size": 0.02}, {"dtype": "float64"}, {"steps": 11}, {"inputs": 6}, {"init": "pytorch"}, {"own_state": False},
    {"state_bias": True}, {"mask_own_recurrence": True}, {"mask_recurrence": False}, {"draws": 2}, {"by_group": True},
]  # fmt: skip
DECAY_CHANGES: list[dict[str, Any]] = [
    {"cell": "gru"}, {"hidden": 4}, {"bias": True}, {"dtype": "float64"}, {"steps": 5}, {"inputs": 4}
]  # fmt: skip


@pytest.mark.parametrize(("base", "changes"), [(ONE, ALIGNMENT_CHANGES), (ONE_DECAY, DECAY_CHANGES)])
def test_identity_changes_with_every_parameter(base: dict[str, Any], changes: list[dict[str, Any]]) -> None:
    axes = {axis.name for axis in get_experiment(base.get("experiment", "alignment")).axes}
    assert {key for change in changes for key in change} == axes - {"task"}  # none is forgotten here
    entry = only(base)
    ids = [entry.id, *(only({**base, **change}).id for change in changes)]
    if "task" in axes:  # of which there is one so far
        ids.append(entry.experiment.config_id(replace(entry.config, task="another")))
    assert len(set(ids)) == len(ids)


def test_identity_changes_with_the_numerics_version() -> None:
    for base in (ONE, ONE_DECAY):
        entry = only(base)
        newer = replace(entry.experiment, numerics=entry.experiment.numerics + 1)
        assert newer.config_id(entry.config) != entry.id


def test_identity_does_not_depend_on_name_order_position_estimators_or_seeds() -> None:
    assert only({**ONE, "name": "other", "seeds": "7:9", "estimators": ["bptt"]}).id == ALIGNMENT_ID
    assert only(dict(reversed(ONE.items()))).id == ALIGNMENT_ID
    among = parse({**ONE, "columns": [7, 3, 5], "lateral": ["dense", 0.5, 0]}, {"width": [9, 2]}, {"width": 2})
    assert [entry.id for entry in entries(among)].count(ALIGNMENT_ID) == 1


# Units
def jobs_of(found: list[Unit]) -> list[tuple[str, int, str]]:
    return [(p.id, seed, name) for u in found for p in u.pieces for seed in p.seeds for name in p.estimators or ("",)]


MANY = {**TINY, "columns": [3, 4, 5, 20], "width": [2, 50], "seeds": "3:140,500:510", "steps": 50}


@pytest.mark.parametrize("content", [TINY, MANY, DECAY, {**DECAY, "seeds": "0:5000"}])
def test_units_cover_every_job_once_and_are_always_cut_alike(content: dict[str, Any]) -> None:
    first, second = list(units(parse(content))), list(units(parse(content)))
    assert first == second
    assert len(set(first)) == len(first)
    found = jobs_of(first)
    assert len(found) == len(set(found))
    wanted = {
        (entry.id, seed, name)
        for entry in entries(parse(content))
        for seed in entry.seeds
        for name in entry.estimators or ("",)
    }
    assert set(found) == wanted


def test_units_take_some_seconds_and_never_cut_a_batch() -> None:
    sweep = parse({**MANY, "columns": 20, "width": 50, "seeds": "0:8000"})
    found = list(units(sweep))
    assert len(found) > 3
    experiment = EXPERIMENTS["alignment"]
    length = plan.unit_length(sweep)
    for unit in found[:-1]:
        assert length <= unit.seconds < 3 * length
    batches = [
        (piece.id, piece.seeds[0] // experiment.batch_size(piece.config)) for unit in found for piece in unit.pieces
    ]
    assert len(set(batches)) == len(batches)


def test_a_short_sweep_has_short_units_and_a_long_one_those_of_five_seconds() -> None:
    """So that with two workers none waits longer for the last unit than a fiftieth of what the sweep takes."""
    shape = {**MANY, "columns": 20, "width": 50}
    lengths = [plan.unit_length(parse({**shape, "seeds": f"0:{number}"})) for number in (100, 30_000, 1_000_000)]
    assert lengths[0] == plan.SHORTEST < lengths[1] < lengths[2] == plan.UNIT_SECONDS
    sweep = parse({**shape, "seeds": "0:30000"})
    seconds = [unit.seconds for unit in units(sweep)]
    assert max(seconds) < sum(seconds) / 50


def test_units_leave_out_what_is_done_and_keep_their_cuts() -> None:
    sweep = parse(MANY)
    whole = list(units(sweep))
    gone = {(p.id, seed) for p in itertools.islice(whole[0].pieces, 2) for seed in p.seeds}
    half = whole[-1].pieces[0]

    def missing(config: str, seed: int, estimators: tuple[str, ...]) -> tuple[str, ...] | None:
        if (config, seed) in gone:
            return None
        return ("tbptt-3",) if config == half.id and seed == half.seeds[0] else estimators

    left = list(units(sweep, missing))
    lost = {(half.id, half.seeds[0], "master-user")}
    assert set(jobs_of(left)) == {job for job in jobs_of(whole) if job[:2] not in gone} - lost
    assert len(jobs_of(left)) == len(set(jobs_of(left)))
    assert left[1:-1] == whole[1:-1]  # untouched ones are the same units
    assert list(units(sweep, lambda *_: None)) == []


def test_batches_are_small_for_large_networks_and_fit_a_hundred_seeds() -> None:
    experiment = EXPERIMENTS["alignment"]

    def size(cell: str, columns: int, width: int) -> int:
        return experiment.batch_size(experiment.point(cell=cell, columns=columns, width=width))

    assert size("additive", 20, 50) == 5
    assert size("additive", 100, 100) == 1
    for cell, C, W in itertools.product(["additive", "gru", "lstm"], [1, 5, 20, 100], [1, 5, 50, 100]):
        assert 100 % size(cell, C, W) == 0
