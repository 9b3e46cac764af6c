"""Which states a parameter reaches within k steps, found from the masks alone: never from a Jacobian.

A column's state is one node, be it a number or a pair. θ of column i falls into two groups:

    u_i = (U_i, R_i, q_i)         enters state i at once
    φ_i = (A_i, b_i, B_i, c_i)    enters at once every state j that has a weight U_ji, its own included

and from one step to the next state j enters state k if k = j, if R_kj exists, or, where columns see their own state, if
any U_kj does: h_j enters the features of column j. Imports no torch.
"""

from collections.abc import Mapping

import numpy as np

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.streams import Array


def tracked(architecture: Architecture, masks: Mapping[str, Array], orders: list[int]) -> list[Array]:
    """For each order k the sets of u and of φ, (..., 2, C, C): True where the group of a column reaches a state."""
    gates = CELLS[architecture.cell].gates
    U = np.any([masks[f"U.{gate}"].any(-1) for gate in gates], axis=0)  # (..., to, from)
    own = np.broadcast_to(np.eye(architecture.columns, dtype=np.bool_), U.shape)
    onward = own
    if architecture.recurrent:
        onward = own | np.any([masks[f"R.{gate}"] for gate in gates], axis=0)
    if architecture.sees_own_state:
        onward = onward | U
    follow = onward.swapaxes(-1, -2)[..., None, :, :].astype(np.float32)
    reached = np.stack([own, U.swapaxes(-1, -2)], axis=-3)
    found = {1: reached}
    for order in range(2, min(max(orders), architecture.columns) + 1):  # after C steps nothing new can be reached
        reached = (reached.astype(np.float32) @ follow) > 0
        found[order] = reached
    return [found[min(order, architecture.columns)] for order in orders]
