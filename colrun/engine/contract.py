"""From credits to gradients, or straight to the sums behind the metrics: networks/contraction.py by kernels."""

import numpy as np
import torch
from torch import Tensor

from colrun.compiling import Array
from colrun.engine import compare, sums
from colrun.engine.contraction import PreactivationCredit, contract
from colrun.engine.laterals import from_source
from colrun.engine.metrics import RELEASED_THRESHOLD
from colrun.engine.run import Compiled
from colrun.networks.base import Gradients
from colrun.networks.cells import CELLS

Credit = Tensor | PreactivationCredit
"""Of states, (N, T, P) or (N, T, S, C), or of pre-activations."""
Crossing = tuple[Credit, bool]
"""A credit and whether it crosses columns; that of pre-activations says all itself."""


def gradient(run: Compiled, credit: Credit, crosses: bool) -> Gradients:
    """By name, (N, …), zero where masked."""
    if isinstance(credit, PreactivationCredit):
        return contract(run.trajectory, credit)  # products alone are left
    batch, shared = run.batch, run.batch.layers
    N, T, G, C = run.a.shape
    W, inputs = batch.architecture.width, batch.architecture.inputs
    new = run.f.new_empty
    first, second = new(N, C, W, inputs + run.stateful + 1), new(N, C, W, W + 1)
    U, R, q = run.f.new_zeros(N, C, G * C, W), new(N, G * C, C), new(N, G * C)
    given = (shared.x, run.h_tm1, run.z, run.f, shared.B, first, second, U, R, q)
    compare.gradients(
        credit.reshape(N, T, -1).contiguous().numpy(), *_partials(run), crosses, run.laterals, _R_exists(run),
        run.linked, run.stateful, *(tensor.numpy() for tensor in given),
    )  # fmt: skip
    found = {"A": first[..., :-1], "b": first[..., -1], "B": second[..., :-1], "c": second[..., -1]}
    by_target = torch.from_numpy(from_source(U.numpy(), G))
    for g, gate in enumerate(CELLS[run.cell].gates):
        found |= {
            f"U.{gate}": by_target[:, g],
            f"R.{gate}": R.view(N, G, C, C)[:, g],
            f"q.{gate}": q.view(N, G, C)[:, g],
        }
    return {name: found[name].clone() for name in batch.masks}


def compared(run: Compiled, truth: Tensor, credits: list[Crossing]) -> Tensor:
    """The sums behind metrics.compare by group of weights, (groups, 10, credits, N); the truth crosses columns."""
    batch, shared = run.batch, run.batch.layers
    N, T, _ = truth.shape
    every = [truth, *(credit for credit, _ in credits)]
    crosses = np.array([True, *(each for _, each in credits)])
    places, gates, layers = _known(run, every)
    states = torch.stack([each.reshape(N, T, -1) if isinstance(each, Tensor) else truth for each in every])
    of_truth = np.zeros((N, compare.GROUPS, sums.TRUTH))
    of_estimates = np.zeros((N, len(credits), compare.GROUPS, sums.ESTIMATE))
    given = (shared.x, run.h_tm1, run.z, run.f, shared.B)
    compare.compare(
        states.numpy(), *_partials(run), crosses, places, gates.numpy(), layers.numpy(), run.laterals, _R_exists(run),
        run.linked, batch.architecture.switches.state_bias, run.stateful,
        *(tensor.numpy() for tensor in given), RELEASED_THRESHOLD, of_truth, of_estimates,
    )  # fmt: skip
    aligned, released, counted, error, dot, ee = torch.from_numpy(of_estimates).permute(3, 2, 1, 0)
    known = torch.from_numpy(of_truth).permute(2, 1, 0).unsqueeze(2).expand(-1, -1, len(credits), N)
    nonzero, size, gg = known
    count = _counts(run).T.unsqueeze(1).expand_as(nonzero)
    return torch.stack([aligned, nonzero, released, counted, error, size, count, dot, gg, ee], dim=1)


def _known(run: Compiled, credits: list[Credit]) -> tuple[Array, Tensor, Tensor]:
    """Credits of pre-activations: of gates (K, 2, N, T, G·C), of layers (K, 2, N, C, W, T), the place of each or -1."""
    found = [credit for credit in credits if isinstance(credit, PreactivationCredit)]
    given = np.array([isinstance(credit, PreactivationCredit) for credit in credits])
    N, T, G, C = run.a.shape
    gates, layers = run.a.new_empty(len(found), 2, N, T, G * C), run.f.new_empty(len(found), 2, *run.f.mT.shape)
    for k, credit in enumerate(found):
        for n, part in enumerate(credit[:2]):
            gates[k, n] = part.reshape(N, T, G * C)
        for n, part in enumerate((credit.second, credit.first)):
            layers[k, n] = part.permute(0, 2, 3, 1)
    return np.where(given, np.cumsum(given) - 1, -1), gates, layers


def _partials(run: Compiled) -> tuple[Array, Array]:
    by_a, by_r, _ = run.partials
    return by_a.contiguous().numpy(), by_r.contiguous().numpy()


def _R_exists(run: Compiled) -> Array:
    N, G, C, _ = run.batch.R_exists.shape
    found: Array = run.batch.R_exists.reshape(N, G * C, C).numpy()
    return found


def _counts(run: Compiled) -> Tensor:
    """(N, groups): how many weights of each exist."""
    architecture = run.batch.architecture
    N, _, G, C = run.a.shape
    W = architecture.width
    counts = torch.zeros(N, compare.GROUPS, dtype=torch.float64)
    counts[:, compare.FIRST] = C * W * (architecture.inputs + run.stateful + 1)
    counts[:, compare.SECOND] = C * W * (W + 1)
    counts[:, compare.OWN] = G * C * (W + architecture.switches.state_bias)
    counts[:, compare.LATERAL] = torch.tensor(run.batch.lateral_weights(), dtype=torch.float64)
    counts[:, compare.RECURRENT] = run.batch.R_exists.flatten(1).sum(1).double()
    return counts
