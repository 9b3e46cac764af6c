"""Which states a weight reaches within k steps, found from the masks alone: never from a Jacobian.

A column's state is one node, be it a number or a pair. Weights of column i that reach the same states are a group:

    u_i = (U_i, R_i, q_i)      enters state i at once
    A_i, b_i                   enter at once every state j that has a weight U_ji, its own included
    B_i[r], c_i[r]             enter only those that have a weight U_ji[r], on the one feature that they make

and from one step to the next state j enters state k if k = j, if R_kj exists, or, where columns see their own state, if
any U_kj does: h_j enters the features of column j. Imports no torch.
"""

from collections.abc import Mapping

import numpy as np

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.streams import Array

U, FIRST, ROWS = 0, 1, 2
"""Places of the groups of a column: u_i, its first layer, and from there on every row of its second."""


def tracked(architecture: Architecture, masks: Mapping[str, Array], orders: list[int]) -> list[Array]:
    """For each order k the sets of all groups, (..., 2 + W, C, C): True where that of a column reaches a state."""
    gates = CELLS[architecture.cell].gates
    features = np.any([masks[f"U.{gate}"] for gate in gates], axis=0)  # (..., to, from, unit)
    by_column = features.any(-1)
    own = np.broadcast_to(np.eye(architecture.columns, dtype=np.bool_), by_column.shape)
    onward = own
    if architecture.recurrent:
        onward = own | np.any([masks[f"R.{gate}"] for gate in gates], axis=0)
    if architecture.sees_own_state:
        onward = onward | by_column
    follow = onward.swapaxes(-1, -2)[..., None, :, :].astype(np.float32)
    rows = np.moveaxis(features, (-1, -2, -3), (-3, -2, -1))
    reached = np.concatenate([np.stack([own, by_column.swapaxes(-1, -2)], axis=-3), rows], axis=-3)
    found = {1: reached}
    for order in range(2, min(max(orders), architecture.columns) + 1):  # after C steps nothing new can be reached
        reached = (reached.astype(np.float32) @ follow) > 0
        found[order] = reached
    return [found[min(order, architecture.columns)] for order in orders]
