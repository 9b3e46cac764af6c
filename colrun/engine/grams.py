"""Inner products of what weights multiply, step against step: with them, norms of θ-sized sums need no θ-sized vector.

A layer's local gradient at step t is (credit of its pre-activations) x (its input), so the inner product of two of them
is (credit · credit)(input · input). The second factor is here; it depends on the trajectory alone.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from colrun.networks.lateral import FEW

if TYPE_CHECKING:
    from colrun.engine.trajectory import Trajectory

CHUNK_NUMBERS = 2_000_000


class Grams(NamedTuple):
    """input(t) · input(t') of every matrix or row of weights, its bias counted as an input of 1; T x T each."""

    first: Tensor
    """(N, C, T, T): A_i, b_i"""
    second: Tensor
    """(N, C, T, T): B_i, c_i"""
    a: Tensor
    """(N, G·C, T, T): the row U_i of a gate, over the weights that exist, and q_i if there is one"""
    r: Tensor
    """(N, G·C, T, T): the row R_i of a gate, over the weights that exist"""


def input_grams(trajectory: "Trajectory") -> Grams:
    """All of them."""
    batch = trajectory.batch
    x, z, h_tm1 = batch.layers.x, trajectory.z.transpose(1, 2), trajectory.h_tm1
    first = (x @ x.mT).unsqueeze(1) + 1
    if batch.architecture.sees_own_state:
        own = h_tm1.transpose(1, 2)
        first = first + own.unsqueeze(-1) * own.unsqueeze(-2)
    first = first.expand(-1, z.shape[1], -1, -1)
    a = _features(trajectory)
    if batch.architecture.switches.state_bias:
        a = a + 1
    seen = h_tm1.unsqueeze(1) * batch.R_exists.flatten(1, 2).unsqueeze(2)  # (N, G·C, T, C)
    return Grams(first, z @ z.mT + 1, a, seen @ h_tm1.mT.unsqueeze(1))


def _features(trajectory: "Trajectory") -> Tensor:
    """Of the rows of U; by the config, never by the mask drawn, so that the bits are always the same."""
    batch, f = trajectory.batch, trajectory.f
    N, T, C, W = f.shape
    G = batch.drawn.weights["U"].shape[1]
    if batch.architecture.survival < FEW:
        own = f.transpose(1, 2)
        found = (own @ own.mT).unsqueeze(1).expand(-1, G, -1, -1, -1).reshape(N * G * C, T, T)
        network, gate, to, source, unit = map(torch.from_numpy, np.unravel_index(batch.lateral_places, (N, G, C, C, W)))
        size = max(1, CHUNK_NUMBERS // T**2)
        for begin in range(0, len(to), size):
            part = slice(begin, begin + size)
            lateral = f[network[part], :, source[part], unit[part]]
            row = (network[part] * G + gate[part]) * C + to[part]
            found.index_add_(0, row, lateral.unsqueeze(2) * lateral.unsqueeze(1))
        return found.view(N, G * C, T, T)
    flat = f.reshape(N, T, C * W)
    if batch.architecture.survival >= 1.0:
        return (flat @ flat.mT).unsqueeze(1).expand(-1, G * C, -1, -1)
    exists = batch.exists["U"].reshape(N, G * C, 1, C * W)
    found = f.new_empty(N, G * C, T, T)
    size = max(1, CHUNK_NUMBERS // (N * T * C * W))
    for begin in range(0, G * C, size):
        rows = slice(begin, begin + size)
        found[:, rows] = (flat.unsqueeze(1) * exists[:, rows]) @ flat.mT.unsqueeze(1)
    return found
