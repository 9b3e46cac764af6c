"""The fast form of uoro: see uoro.py."""

import numpy as np

from colrun.engine.forms import Credit, StochasticForm
from colrun.engine.run import Run
from colrun.estimators.learner_fast import balance
from colrun.estimators.rank_one_fast import local_gram, rank_one_credits


class UORO(StochasticForm):
    """One scale for the noise of all states."""

    name = "uoro"

    def drawn(self, run: Run, draws: list[int]) -> list[Credit]:
        """The scales ρ1 come from the inner products of νᵀ ∂s/∂θ."""
        P = run.shape[2]
        nu = self.signs(run, draws, *run.s.shape[2:])
        nu = nu.reshape(*nu.shape[:3], P)
        gram = local_gram(run, nu)
        norms = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 0))
        rho, inverse = balance(norms, np.full_like(norms, P**0.5))
        gram *= inverse[..., None] * inverse[..., None, :]
        return [*rank_one_credits(run, nu * rho[..., None], nu * inverse[..., None], gram, own_exactly=True)]


FAST = {"uoro": UORO()}
