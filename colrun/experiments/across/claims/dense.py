"""The claim on standard RNNs: the dense level of rnn-alignment, and random groups of weights (grouping)."""

import pandas as pd

from colrun.estimators import EstimatorName
from colrun.verdicts.scope import MASTER_USER, take
from colrun.verdicts.statistics import estimate
from colrun.verdicts.verdict import NoDataError, Number, Verdict, decide, of

POOR = 0.7
DENSE = 19.0
GROUPS = EstimatorName("master-user-groups")


def poor_on_dense(rnn: pd.DataFrame, grouping: pd.DataFrame, who: EstimatorName = MASTER_USER) -> Verdict:
    """Mean alignment where every column sees every other, and of Master-User with random groups in a dense RNN."""
    numbers: list[Number] = []
    notes: list[str] = []
    rows = diverged = 0
    asked = [("rnn-alignment", rnn, who, "columns, dense level")]
    asked += [("grouping", grouping, GROUPS, "random groups, dense RNN")] if who == MASTER_USER else []
    for sweep, frame, name, label in asked:
        try:
            found = take(sweep, frame, [name], lambda level: level == DENSE, network="dense-rnn")
        except NoDataError as missing:
            notes.append(str(missing))
            continue
        mean = estimate(found.values(name, DENSE))
        numbers.append(of("alignment", label, mean, mean.value < POOR, "< 70 %"))
        notes += found.notes([DENSE])
        rows, diverged = rows + found.size[0], diverged + found.size[1]
    if not numbers:
        raise NoDataError("; ".join(notes))
    return decide((rows, diverged), numbers, notes)
