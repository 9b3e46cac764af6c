"""Which states a parameter reaches within k steps, found from the masks alone: never from a Jacobian.

A column's state is one node, be it a number or a pair. θ of column i falls into two groups:

    u_i = (U_i, R_i, q_i)         enters state i at once
    φ_i = (A_i, b_i, B_i, c_i)    enters at once every state j that has a weight U_ji, its own included

and from one step to the next state j enters state k if k = j, if R_kj exists, or, where columns see their own state, if
any U_kj does: h_j enters the features of column j.
"""

from collections.abc import Mapping
from collections.abc import Sequence as Several

import torch
from torch import Tensor

from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS


def tracked(architecture: Architecture, masks: Mapping[str, Tensor], orders: Several[int]) -> list[Tensor]:
    """For each order k the sets of u and of φ, (..., 2, C, C): True where the group of a column reaches a state."""
    gates = CELLS[architecture.cell].gates
    U = torch.stack([masks[f"U.{gate}"].any(-1) for gate in gates]).any(0)  # (..., to, from)
    own = torch.eye(architecture.columns, dtype=torch.bool).expand_as(U)
    onward = own
    if architecture.recurrent:
        onward = own | torch.stack([masks[f"R.{gate}"] for gate in gates]).any(0)
    if architecture.sees_own_state:
        onward = onward | U
    follow = onward.transpose(-1, -2).float().unsqueeze(-3)
    reached = torch.stack([own, U.transpose(-1, -2)], dim=-3)
    found = {1: reached}
    for order in range(2, min(max(orders), architecture.columns) + 1):  # after C steps nothing new can be reached
        reached = (reached.float() @ follow) > 0
        found[order] = reached
    return [found[min(order, architecture.columns)] for order in orders]
