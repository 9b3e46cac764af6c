"""Every claim on stored rows."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from colrun.claims import CLAIMS, get_claim
from colrun.claims.verdict import NO_DATA, NoDataError, Verdict
from colrun.store.kept import Rows, where_rows

SWEEPS = tuple(dict.fromkeys(sweep for claim in CLAIMS.values() for sweep in claim.sweeps))


@dataclass(frozen=True)
class Judged:
    """A claim in one reading, or once for all (None), and what it comes to."""

    claim: str
    reading: str | None
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what is not a number is null."""
        found = self.verdict
        numbers = [{key: _plain(value) for key, value in vars(number).items()} for number in found.numbers]
        entry = CLAIMS[self.claim]
        return {
            "claim": self.claim, "reading": self.reading, "verdict": found.verdict, "sentence": entry.sentence,
            "test": entry.test, "sweeps": list(entry.sweeps), "numbers": numbers, "notes": list(found.notes),
            "rows": found.rows, "diverged": found.diverged,
        }  # fmt: skip


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def sources(results: Path) -> dict[str, Rows]:
    """Where the rows of each sweep are that a claim needs."""
    found = {sweep: where_rows(results, sweep) for sweep in SWEEPS}
    return {sweep: rows for sweep, rows in found.items() if rows is not None}


def judge(frames: Mapping[str, pd.DataFrame]) -> Iterator[Judged]:
    """All claims in their order, each in its readings."""
    for name, claim in CLAIMS.items():
        for reading in claim.readings:
            given = [_of_reading(frames.get(sweep, pd.DataFrame()), reading) for sweep in claim.sweeps]
            try:
                verdict = get_claim(name)(*given)
            except NoDataError as missing:
                verdict = Verdict(NO_DATA, notes=(str(missing),))
            yield Judged(name, reading, verdict)


def _of_reading(frame: pd.DataFrame, reading: str | None) -> pd.DataFrame:
    return frame if reading is None or "reading" not in frame else frame[frame["reading"] == reading]
