"""Every claim on made-up tables in which the answer is known."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from colrun.claims import get_claim, known_claims
from colrun.claims.judge import Judged, estimators, judge, judge_plugins
from colrun.estimators import EstimatorName
from colrun.verdicts.verdict import DIVERGED, NO_DATA, NOT_REPRODUCED, REPRODUCED, NoDataError, Verdict
from tests.claims.cases import CASES, Frames, at, frames, grids, rnn
from tests.claims.tables import ERROR, alignment, diverging

CLAIMS = known_claims()


def decided(claim: str, given: Frames) -> Verdict:
    return get_claim(claim)(*(given.get(sweep, pd.DataFrame()) for sweep in CLAIMS[claim].sweeps))


def test_every_claim_has_cases() -> None:
    assert list(CASES) == list(CLAIMS)


@pytest.mark.parametrize(
    ("case", "expected"),
    [("true", REPRODUCED), ("just true", REPRODUCED), ("false", NOT_REPRODUCED), ("just not", NOT_REPRODUCED)],
)
@pytest.mark.parametrize("claim", CASES)
def test_verdict(claim: str, case: str, expected: str) -> None:
    verdict = decided(claim, frames(claim, case))
    assert verdict.verdict == expected, verdict
    assert {number.holds for number in verdict.numbers} & {True, False}
    assert all(number.bound for number in verdict.numbers if number.holds is not None)


@pytest.mark.parametrize("claim", CASES)
def test_some_diverged_are_left_out_and_many_decide(claim: str) -> None:
    true = frames(claim, "true")
    if "cost" in true:
        return
    few = decided(claim, {sweep: diverging(frame, 2 / 26) for sweep, frame in true.items()})
    assert few.verdict == REPRODUCED
    assert few.diverged == pytest.approx(few.rows * 2 / 26)
    assert all(number.n == 24 for number in few.numbers if number.n is not None and not math.isnan(number.error))
    for share in (3 / 26, 1.0):
        many = decided(claim, {sweep: diverging(frame, share) for sweep, frame in true.items()})
        assert many.verdict == DIVERGED


@pytest.mark.parametrize("claim", CASES)
def test_no_data(claim: str) -> None:
    true = frames(claim, "true")
    with pytest.raises(NoDataError, match="no rows of"):
        decided(claim, {})
    with pytest.raises(NoDataError):
        decided(claim, {sweep: frame[:0] for sweep, frame in true.items()})
    if "estimator" in next(iter(true.values())):
        with pytest.raises(NoDataError):
            decided(claim, {sweep: frame[frame["estimator"] == "rtrl"] for sweep, frame in true.items()})


@pytest.mark.parametrize("claim", [name for name in CASES if name != "linear-cost"])
def test_one_network_is_too_few(claim: str) -> None:
    single = {sweep: frame[frame["seed"] == 0] for sweep, frame in frames(claim, "true").items()}
    with pytest.raises(NoDataError):
        decided(claim, single)


@pytest.mark.parametrize(
    "claim", [name for name in CASES if name not in ("linear-cost", "decay-fast", "decay-bias-constant")]
)
def test_other_rows_do_not_disturb(claim: str) -> None:
    """Other estimators, shapes, lengths, single switches and levels of a sweep that was extended."""
    true = frames(claim, "true")
    mixed = {}
    for sweep, frame in true.items():
        other = frame.assign(alignment=0.123, mae=7.0)
        extra = [
            other.assign(estimator="a-plug-in", window=np.nan),
            other.assign(estimator="snap", window=40.0),
            other.assign(columns=7),
            other.assign(steps=10),
            other.assign(mask_recurrence=False),
            other.assign(draws=3, estimator="uoro", window=np.nan),
        ]
        mixed[sweep] = pd.concat([frame, *extra], ignore_index=True)
    assert decided(claim, mixed) == decided(claim, true)


MINE = EstimatorName("mine", 3)


def renamed(given: Frames) -> Frames:
    """Master-User's rows as those of a plug-in."""
    found = {}
    for sweep, frame in given.items():
        own = frame["estimator"] == "master-user"
        found[sweep] = frame.assign(
            estimator=frame["estimator"].mask(own, "mine"),
            window=frame["window"].mask(own, 3.0),
            plugin=own.map({True: "1f0e", False: None}),
        )
    return found


@pytest.mark.parametrize("case", ["true", "false", "just true", "just not"])
@pytest.mark.parametrize("claim", [name for name, entry in CLAIMS.items() if entry.of_any])
def test_another_estimator_in_master_users_place(claim: str, case: str) -> None:
    """The same rows under another name: the same numbers, but for those that are not on Master-User itself."""
    given = frames(claim, case)
    asked = [found for found in judge(renamed(given), MINE) if found.claim == claim]
    ((one),) = [found for found in asked if found.verdict.verdict != NO_DATA]
    paper = decided(claim, given)
    numbers = [replace(number, group=number.group.replace(str(MINE), "master-user")) for number in one.verdict.numbers]
    assert len([number for number in numbers if number.holds is not None]) > 0
    for number in numbers:
        assert any(number in (theirs, replace(theirs, holds=None, bound="")) for theirs in paper.numbers), number
    if len(numbers) == len(paper.numbers) and claim != "linear-cost":
        assert one.verdict.verdict == paper.verdict
    assert one.word in ("holds", "does not hold")
    assert one.title == f"{claim} of mine-3"


def test_plug_ins_in_the_rows_are_asked() -> None:
    given = rnn() | {"cost": frames("linear-cost", "true")["cost"]}
    assert list(judge_plugins(given)) == []
    plugins = {sweep: frame.dropna(subset="plugin") for sweep, frame in renamed(given).items()}
    both = {sweep: pd.concat([frame, plugins[sweep]], ignore_index=True) for sweep, frame in given.items()}
    assert MINE in estimators(both)
    found = list(judge_plugins(both))
    assert {one.who for one in found} == {MINE}
    assert {(one.claim, one.reading, one.word) for one in found} == {
        ("exact-without-lateral", "text", "holds"), ("degrades-with-lateral", "text", "holds"),
        ("beats-tbptt-when-sparse", "text", "holds"), ("poor-on-dense", "text", "holds"),
        ("linear-cost", None, "holds"),
    }  # fmt: skip
    assert [one.verdict for one in judge(both)] == [one.verdict for one in judge(given)]
    assert json.loads(json.dumps(found[0].as_dict(), allow_nan=False))["estimator"] == "mine-3"


def test_numbers_and_errors_behind_a_lead() -> None:
    verdict = decided("beats-tbptt-when-sparse", rnn(at("tbptt-40", 0.90)))
    leads = {number.label: number for number in verdict.numbers if number.group == "lead over tbptt-40"}
    assert {label: number.value for label, number in leads.items()} == pytest.approx(
        {"0.1 %": 0.09, "0.3 %": 0.08, "1 %": 0.07}
    )
    for number in leads.values():
        assert number.error == pytest.approx(ERROR)
        assert (number.n, number.holds) == (26, True)
    shares = [number.value for number in verdict.numbers if number.group.startswith("share")]
    assert shares == [1.0, 1.0, 1.0]  # 0.90 ± 0.05 is never above 0.97
    blocks = [number for number in verdict.numbers if number.group == "lead over tbptt-block-40"]
    assert [number.value for number in blocks] == pytest.approx([0.19, 0.18, 0.17])
    assert {number.holds for number in blocks} == {None}


def test_pairs_are_by_seed() -> None:
    """Levels and estimators with other seeds: only common ones count, and the unequal counts are said."""
    frame = rnn()["rnn-alignment"]
    gone = (frame["estimator"] == "tbptt") & (frame["window"] == 40) & (frame["lateral"] == 0.001) & (frame["seed"] < 6)
    verdict = decided("beats-tbptt-when-sparse", {"rnn-alignment": frame[~gone]})
    assert [number.n for number in verdict.numbers if number.group == "lead over tbptt-40"] == [20, 26, 26]
    assert verdict.notes == ("rnn-alignment: n = 20 to 26 of 100 networks per point",)


def test_what_is_missing_is_said() -> None:
    frame = rnn()["rnn-alignment"]
    verdict = decided("beats-tbptt-when-sparse", {"rnn-alignment": frame[frame["lateral"] != 0.003]})
    assert verdict.verdict == REPRODUCED
    assert verdict.notes[0] == "rnn-alignment: no rows at 0.3 %"
    complete = alignment(lambda *_: 1.0, ["master-user"], seeds=range(100))
    exact = decided("exact-without-lateral", {"rnn-alignment": complete})
    assert (exact.verdict, exact.notes) == (REPRODUCED, ("no rows of gru-alignment",))


def test_inversions_of_windows_count_against_a_shape() -> None:
    assert decided("shape-independent", grids(1, "inversion")).verdict == REPRODUCED
    verdict = decided("shape-independent", grids(2, "inversion"))
    assert verdict.verdict == NOT_REPRODUCED
    assert [(n.label, n.value) for n in verdict.numbers if n.holds is False] == [("tbptt-improves-with-window", 0.8)]
    assert "tbptt-improves-with-window fails in C=20 W=5, C=20 W=10" in verdict.notes
    assert decided("shape-independent", grids(2, "meta")).verdict == NOT_REPRODUCED


def test_a_diverged_shape_does_not_hold() -> None:
    changed = dict(grids(0))
    rows = changed["meta-grid"]
    chosen = (rows["columns"] == 20) & rows["width"].isin([5, 10])
    changed["meta-grid"] = pd.concat([diverging(rows[chosen], 0.5), rows[~chosen]])
    verdict = decided("shape-independent", changed)
    assert verdict.verdict == NOT_REPRODUCED
    numbers = {(number.group, number.label): number.value for number in verdict.numbers}
    assert numbers["share of configurations", "meta-beats-tbptt-10"] == 0.8
    assert numbers["share of those that did not diverge", "meta-beats-tbptt-10"] == 1.0
    assert any("C=20 W=5 α=0.01, C=20 W=10 α=0.01" in note for note in verdict.notes)


def test_all_claims_by_reading() -> None:
    """Text true, release false; nothing else there."""
    rows = [
        alignment(lambda *_: 1.0, ["master-user"], reading="text"),
        alignment(lambda *_: 0.5, ["master-user"], reading="release"),
    ]
    judged = list(judge({"rnn-alignment": pd.concat(rows)}))
    assert [(one.claim, one.reading) for one in judged] == [
        (name, reading) for name, claim in CLAIMS.items() for reading in claim.readings
    ]
    found = {(one.claim, one.reading): one.verdict.verdict for one in judged}
    assert found["exact-without-lateral", "text"] == REPRODUCED
    assert found["exact-without-lateral", "release"] == NOT_REPRODUCED
    assert found["decay-fast", None] == NO_DATA
    assert json.loads(json.dumps([one.as_dict() for one in judged], allow_nan=False))[0]["numbers"][0]["value"] == 1.0


def test_json_has_no_nan() -> None:
    verdict = decided("meta-near-exact", {"meta-alignment": diverging(alignment(lambda *_: 1.0, ["master-user"]), 1.0)})
    assert json.dumps(Judged("meta-near-exact", "text", verdict).as_dict(), allow_nan=False)
