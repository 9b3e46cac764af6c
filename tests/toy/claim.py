"""One function per claim."""

import pandas as pd

from colrun.verdicts.statistics import estimate
from colrun.verdicts.verdict import NoDataError, Verdict, decide, of


def toy_is_positive(rows: pd.DataFrame) -> Verdict:
    if rows.empty:
        raise NoDataError("no rows of tiny-toy")
    last = estimate(rows[rows["step"] == rows["step"].max()].groupby("seed")["value"].mean())
    return decide((len(rows), 0), [of("value", "last step", last, last.value > 0, "> 0", unit="")])
