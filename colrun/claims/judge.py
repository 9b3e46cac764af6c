"""Every claim on stored rows: as the paper has it, of Master-User, and asked of other estimators in its place."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from colrun.claims import get_claim, known_claims
from colrun.estimators import EstimatorName
from colrun.store.kept import Rows, where_rows
from colrun.verdicts.verdict import NO_DATA, NOT_REPRODUCED, REPRODUCED, NoDataError, Verdict

HOLDS = {REPRODUCED: "holds", NOT_REPRODUCED: "does not hold"}


@dataclass(frozen=True)
class Judged:
    """A claim in one reading, or once for all (None), and what it comes to."""

    claim: str
    reading: str | None
    verdict: Verdict
    who: EstimatorName | None = None
    """The estimator that was asked in Master-User's place; None for the claim as the paper has it."""

    @property
    def title(self) -> str:
        """The claim and, if it is not the paper's, of whom."""
        return self.claim if self.who is None else f"{self.claim} of {self.who}"

    @property
    def word(self) -> str:
        """The verdict; what the paper does not say is not reproduced, it holds."""
        return self.verdict.verdict if self.who is None else HOLDS.get(self.verdict.verdict, self.verdict.verdict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what is not a number is null."""
        found = self.verdict
        numbers = [{key: _plain(value) for key, value in vars(number).items()} for number in found.numbers]
        entry = known_claims()[self.claim]
        return {
            "claim": self.claim, "reading": self.reading, "verdict": self.word, "sentence": entry.sentence,
            "test": entry.test, "sweeps": list(entry.sweeps), "numbers": numbers, "notes": list(found.notes),
            "rows": found.rows, "diverged": found.diverged,
        } | ({} if self.who is None else {"estimator": str(self.who)})  # fmt: skip


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def sources(results: Path) -> dict[str, Rows]:
    """Where the rows of each sweep are that a claim needs."""
    needed = dict.fromkeys(sweep for claim in known_claims().values() for sweep in claim.sweeps)
    found = {sweep: where_rows(results, sweep) for sweep in needed}
    return {sweep: rows for sweep, rows in found.items() if rows is not None}


def judge(frames: Mapping[str, pd.DataFrame], who: EstimatorName | None = None) -> Iterator[Judged]:
    """All claims in their order, each in its readings; of another estimator, those that can be asked of it."""
    asked = () if who is None else (who,)
    of_reading = cache(lambda sweep, reading: _of_reading(frames.get(sweep, pd.DataFrame()), reading))
    for name, claim in known_claims().items():
        if asked and not claim.of_any:
            continue
        for reading in claim.readings:
            given = [of_reading(sweep, reading) for sweep in claim.sweeps]
            try:
                verdict = get_claim(name)(*given, *asked)
            except NoDataError as missing:
                verdict = Verdict(NO_DATA, notes=(str(missing),))
            yield Judged(name, reading, verdict, who)


def judge_plugins(frames: Mapping[str, pd.DataFrame]) -> Iterator[Judged]:
    """The claims for which there are rows of plug-ins, asked of each of these."""
    for who in sorted(estimators(frames, plugins=True), key=str):
        yield from (found for found in judge(frames, who) if found.verdict.verdict != NO_DATA)


def estimators(frames: Mapping[str, pd.DataFrame], plugins: bool = False) -> set[EstimatorName]:
    """Whose rows there are: all, or those of plug-ins alone."""
    found = set()
    for frame in frames.values():
        if "estimator" not in frame or (plugins and "plugin" not in frame):
            continue
        rows = frame[frame["plugin"].notna()] if plugins else frame
        for family, window in rows[["estimator", "window"]].drop_duplicates().itertuples(index=False):
            found.add(EstimatorName(family, None if pd.isna(window) else int(window)))
    return found


def _of_reading(frame: pd.DataFrame, reading: str | None) -> pd.DataFrame:
    return frame if reading is None or "reading" not in frame else frame[frame["reading"] == reading]
