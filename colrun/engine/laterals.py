"""U as the kernels take it: own weights, and lateral ones as a list where they are few, whole otherwise."""

from typing import NamedTuple

import numpy as np

from colrun.compiling import Array
from colrun.engine.batch import Batch
from colrun.networks.lateral import FEW


class Laterals(NamedTuple):
    """U of N networks."""

    own: Array
    """(N, G, C, W): U_ii, never masked"""
    listed: bool
    value: Array
    """The lateral weights that exist, by network and source column, each with its gate, target column and unit."""
    gate: Array
    to: Array
    unit: Array
    starts: Array
    """(N, C+1): where each source column's begin"""
    whole: Array
    """(N, C, G·C, W): all of U by source column, zero where masked"""
    masked: bool
    exists: Array
    """As `whole`: whether the weight exists; empty where all do"""


def laterals_of(batch: Batch) -> Laterals:
    """A list where few survive, by the config and never by the mask drawn; whole otherwise."""
    features = batch.drawn.features
    N, _, C, _, W = features.shape
    survival = batch.architecture.survival
    listed, masked = survival < FEW, survival < 1.0
    places, value = batch.laterals if listed else (np.zeros(0, np.int64), np.zeros(0, features.dtype))
    if listed:
        own = features.own
    else:
        own = np.ascontiguousarray(np.diagonal(features.whole, axis1=2, axis2=3).swapaxes(-1, -2))
    network, gate, to, source, unit = np.unravel_index(places, features.shape)
    order = np.argsort(network * C + source, kind="stable")
    value, network, gate, to, source, unit = (each[order] for each in (value, network, gate, to, source, unit))
    edges = np.searchsorted(network * C + source, np.arange(N * C + 1))
    starts = edges[np.arange(N)[:, None] * C + np.arange(C + 1)]
    if listed:
        whole, exists = np.empty((1, 1, 1, W), dtype=value.dtype), np.empty((1, 1, 1, W), dtype=np.bool_)
    else:
        whole = by_source(batch.U)
        exists = by_source(batch.U_exists) if masked else np.empty((1, 1, 1, W), dtype=np.bool_)
    return Laterals(own, listed, value, gate, to, unit, starts, whole, masked, exists)


def by_source(U: Array) -> Array:
    """(N, G, C, C, W) as (N, C, G·C, W), source column first: what a column multiplies lies together."""
    N, G, C, _, W = U.shape
    return np.ascontiguousarray(U.transpose(0, 3, 1, 2, 4)).reshape(N, C, G * C, W)


def from_source(U: Array, G: int) -> Array:
    """Back to (N, G, C, C, W)."""
    N, C, _, W = U.shape
    return U.reshape(N, C, G, C, W).transpose(0, 2, 3, 1, 4)
