"""The fast form of nobacktrack: see nobacktrack.py."""

import numpy as np

from colrun.compiling import Array
from colrun.engine.forms import Credit, StochasticForm
from colrun.engine.run import Run
from colrun.estimators.learner_fast import balance
from colrun.estimators.rank_one_fast import local_gram, rank_one_credits


class NoBackTrack(StochasticForm):
    """A scale for the noise of each state."""

    name = "nobacktrack"

    def drawn(self, run: Run, draws: list[int]) -> list[Credit]:
        """The scales are the same for all draws."""
        norms = own_norms(run)[:, None]
        rho, inverse = balance(norms, np.ones_like(norms))
        epsilon = self.signs(run, draws, *run.s.shape[2:])
        into_state, into_theta = ((each * epsilon).reshape(*epsilon.shape[:3], -1) for each in (rho, inverse))
        gram = local_gram(run, into_theta)
        return [*rank_one_credits(run, into_state, into_theta, gram, own_exactly=False)]


def own_norms(run: Run) -> Array:
    """‖∂s_i(t)/∂θ_i‖ as (N, T, S, C), layer by layer."""
    by_a, by_r, _ = run.partials
    first, second, a, r = (np.diagonal(gram, axis1=-2, axis2=-1) for gram in run.grams)  # (N, C or G·C, T)
    a, r = (square.swapaxes(1, 2).reshape(run.a.shape) for square in (a, r))
    found = np.empty((*by_a.shape[:3], by_a.shape[4]), by_a.dtype)
    for k in range(by_a.shape[2]):
        rows = (np.square(by_a[:, :, k]) * a + np.square(by_r[:, :, k]) * r).sum(2)
        # (N, C, T, W): a column's own weights alone
        credit = (run.f > 0) * (by_a[:, :, k].transpose(0, 3, 1, 2) @ run.laterals.own.swapaxes(1, 2))
        layers = np.square(credit).sum(-1) * second
        credit = (run.z[..., :-1] > 0) * (credit @ run.batch.layers.B)
        layers += np.square(credit).sum(-1) * first
        found[:, :, k] = rows + layers.swapaxes(1, 2)
    return np.sqrt(found)


FAST = {"nobacktrack": NoBackTrack()}
