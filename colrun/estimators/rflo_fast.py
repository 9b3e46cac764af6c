"""The fast form of rflo: see rflo.py. Master-User's recursion with another decay and another way back."""

import numpy as np

from colrun.engine.forms import Credit, FastForm, Gradients
from colrun.engine.run import Run
from colrun.estimators.master_user_fast import own_credit
from colrun.networks.draw import initial_w


class RFLO(FastForm):
    """With random feedback, as published, or with w."""

    crosses = False

    def __init__(self, symmetric: bool) -> None:
        self.symmetric = symmetric

    def credits(self, run: Run, windows: list[int | None]) -> list[Credit | Gradients]:
        """The leak is the cell's own, and w's learning is not differentiated."""
        back = run.w
        if not self.symmetric:
            drawn = np.stack([initial_w(seed, back.shape[2], "rflo.feedback") for seed in run.batch.seeds])
            back = np.repeat(drawn[:, None].astype(back.dtype), back.shape[1], axis=1)
        return [own_credit(run, run.partials.by_s, back, meta=False)] * len(windows)


FAST = {"rflo": RFLO(symmetric=False), "rflo-symmetric": RFLO(symmetric=True)}
