"""From credits to gradients, or straight to the sums behind the metrics."""

import numpy as np

from colrun.compiling import Array
from colrun.engine import compare, kept, sums
from colrun.engine.forms import Credit, Gradients, PreactivationCredit
from colrun.engine.laterals import from_source
from colrun.engine.metrics import RELEASED_THRESHOLD
from colrun.engine.run import Run
from colrun.networks.cells import CELLS

Crossing = tuple[Credit, bool]
"""A credit and whether it crosses columns; that of pre-activations says all itself."""


def gradient(run: Run, credit: Credit, crosses: bool) -> Gradients:
    """By name, (N, …), zero where masked."""
    if isinstance(credit, PreactivationCredit):
        return _from_preactivations(run, credit)
    shared = run.batch.layers
    N, T, G, C = run.a.shape
    W, inputs = run.batch.architecture.width, run.batch.architecture.inputs
    dtype = run.f.dtype
    first, second = np.empty((N, C, W, inputs + run.stateful + 1), dtype), np.empty((N, C, W, W + 1), dtype)
    U, R, q = np.zeros((N, C, G * C, W), dtype), np.empty((N, G * C, C), dtype), np.empty((N, G * C), dtype)
    by_a, by_r, _ = run.partials
    kept.gradients(
        np.ascontiguousarray(credit).reshape(N, T, -1), by_a, by_r, crosses, run.laterals, _R_exists(run),
        run.linked, run.stateful, shared.x, run.h_tm1, run.z, run.f, shared.B, first, second, U, R, q,
    )  # fmt: skip
    return _named(run, first, second, from_source(U, G), R.reshape(N, G, C, C), q.reshape(N, G, C))


def _from_preactivations(run: Run, credit: PreactivationCredit) -> Gradients:
    """Products alone are left."""
    batch = run.batch
    N, T, G, C = run.a.shape
    seen = np.concatenate([batch.layers.x, np.ones((N, T, 1), run.f.dtype)], axis=-1)
    first = credit.first @ seen[:, None]
    if run.stateful:
        own = credit.first @ run.h_tm1.swapaxes(1, 2)[..., None]
        first = np.concatenate([first[..., :-1], own, first[..., -1:]], axis=-1)
    a, r = (each.reshape(N, T, G * C).swapaxes(1, 2) for each in credit[:2])
    U = (a[:, None] @ run.f).reshape(N, C, G, C, -1).transpose(0, 2, 3, 1, 4)
    R = (r @ run.h_tm1).reshape(N, G, C, C)
    return _named(run, first, credit.second @ run.z, U, R, credit.a.sum(1))


def _named(run: Run, first: Array, second: Array, U: Array, R: Array, q: Array) -> Gradients:
    """A masked weight does not exist, so it has no gradient; R and q exist only where the architecture has them."""
    found = {"A": first[..., :-1], "b": first[..., -1], "B": second[..., :-1], "c": second[..., -1]}
    for g, gate in enumerate(CELLS[run.cell].gates):
        found |= {f"U.{gate}": U[:, g], f"R.{gate}": R[:, g], f"q.{gate}": q[:, g]}
    return {name: np.where(mask, found[name], 0) for name, mask in run.batch.masks.items()}


def compared(run: Run, truth: Array, credits: list[Crossing]) -> Array:
    """The sums behind metrics.compare by group of weights, (groups, 10, credits, N); the truth crosses columns."""
    batch, shared = run.batch, run.batch.layers
    N, T, _ = truth.shape
    every: list[Credit] = [truth, *(credit for credit, _ in credits)]
    crosses = np.array([True, *(each for _, each in credits)])
    places, gates, layers = _known(run, every)
    states = np.stack([truth if isinstance(each, PreactivationCredit) else each.reshape(N, T, -1) for each in every])
    of_truth = np.zeros((N, compare.GROUPS, sums.TRUTH))
    of_estimates = np.zeros((N, len(credits), compare.GROUPS, sums.ESTIMATE))
    by_a, by_r, _ = run.partials
    compare.compare(
        states, by_a, by_r, crosses, places, gates, layers, run.laterals, _R_exists(run),
        run.linked, batch.architecture.switches.state_bias, run.stateful,
        shared.x, run.h_tm1, run.z, run.f, shared.B, RELEASED_THRESHOLD, of_truth, of_estimates,
    )  # fmt: skip
    found = np.empty((compare.GROUPS, 10, len(credits), N))
    found[:, [0, 2, 3, 4, 7, 9]] = of_estimates.transpose(2, 3, 1, 0)
    found[:, [1, 5, 8]] = of_truth.transpose(1, 2, 0)[:, :, None]
    found[:, 6] = _counts(run).T[:, None]
    return found


def _known(run: Run, credits: list[Credit]) -> tuple[Array, Array, Array]:
    """Credits of pre-activations: of gates (K, 2, N, T, G·C), of layers (K, 2, N, C, W, T), the place of each or -1."""
    found = [credit for credit in credits if isinstance(credit, PreactivationCredit)]
    given = np.array([isinstance(credit, PreactivationCredit) for credit in credits])
    N, C, T, W = run.f.shape
    GC = run.a.shape[2] * C
    gates, layers = (np.empty((len(found), 2, N, *shape), run.f.dtype) for shape in ((T, GC), (C, W, T)))
    for k, credit in enumerate(found):
        gates[k, 0], gates[k, 1] = credit.a.reshape(N, T, GC), credit.r.reshape(N, T, GC)
        layers[k, 0], layers[k, 1] = credit.second, credit.first
    return np.where(given, np.cumsum(given) - 1, -1), gates, layers


def _R_exists(run: Run) -> Array:
    N, G, C, _ = run.batch.R_exists.shape
    return run.batch.R_exists.reshape(N, G * C, C)


def _counts(run: Run) -> Array:
    """(N, groups): how many weights of each exist."""
    architecture = run.batch.architecture
    N, _, G, C = run.a.shape
    W = architecture.width
    counts = np.zeros((N, compare.GROUPS))
    counts[:, compare.FIRST] = C * W * (architecture.inputs + run.stateful + 1)
    counts[:, compare.SECOND] = C * W * (W + 1)
    counts[:, compare.OWN] = G * C * (W + architecture.switches.state_bias)
    counts[:, compare.LATERAL] = run.batch.lateral_weights()
    counts[:, compare.RECURRENT] = run.batch.R_exists.reshape(N, -1).sum(1)
    return counts
