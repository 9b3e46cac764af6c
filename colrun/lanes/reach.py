"""Which states the weights of a row reach, found from the masks of the lanes alone.

Rows of gates enter the state of their column; the first layer of a column every state that any of its features enters;
unit r of its second layer those states that have a weight on feature r. From one step to the next state j enters state
k if k = j, if R_kj exists, or, where columns see their own state, if any weight of U_kj does.
"""

import numpy as np

from colrun.lanes.influence import Tracked
from colrun.lanes.layout import Drawn, Net
from colrun.lanes.vectors import LANES
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.streams import Array


def own_sets(net: Net) -> Array:
    """(rows, C, LANES): the own column."""
    own = net.column[:, None] == np.arange(net.C)
    return np.repeat(own[..., None], LANES, axis=2)


def reached_sets(architecture: Architecture, net: Net, drawn: list[Drawn], order: int) -> Array:
    """(rows, C, LANES): what a row reaches within so many steps."""
    found = []
    known: dict[int, Array] = {}
    for each in drawn:
        if id(each) not in known:
            known[id(each)] = _reached(architecture, net, each.masks, order)
        found.append(known[id(each)])
    return np.stack(found, axis=2)


def _reached(architecture: Architecture, net: Net, masks: dict[str, Array], order: int) -> Array:
    C, W, gates = net.C, net.W, CELLS[architecture.cell].gates
    own = np.eye(C, dtype=np.bool_)
    onward = own.copy()  # from, to
    if architecture.recurrent:
        onward |= np.any([masks[f"R.{gate}"] for gate in gates], axis=0).T
    rows = [np.tile(own, (2 * net.G, 1))]
    if W > 0:
        U = np.any([masks[f"U.{gate}"] for gate in gates], axis=0)  # to, from, unit
        by_column = U.any(2).T
        if architecture.sees_own_state:
            onward |= by_column
        rows = [np.repeat(by_column, W, axis=0), U.transpose(1, 2, 0).reshape(C * W, C), *rows]
    reached = np.concatenate(rows).astype(np.float32)
    for _ in range(min(order, C) - 1):  # after C steps nothing new can be reached
        reached = (reached @ onward.astype(np.float32) > 0).astype(np.float32)
    found: Array = reached > 0
    return found


def track(
    net: Net, sets: Array, w_sets: Array | None, all_w: bool, dtype: np.dtype[np.floating], leak: bool
) -> Tracked:
    """What rows follow, from sets of columns (rows, C, LANES); of w the same sets, or all with w_0."""
    C, S, P, rows = net.C, net.S, net.P, net.start.size - 1
    some = np.asarray(sets.any(2))
    start, states, local, kept, fresh, memory = [0], [], [], [], [], [0]
    before: list[int] = []
    units, gates = C * net.W, net.G * C
    for row in range(rows):
        columns = np.flatnonzero(some[row])
        here = [k * C + int(i) for i in columns for k in range(S)]
        keeps = [sets[row, i] for i in columns for _ in range(S)]
        place = {}
        if row < 2 * units:
            j, unit = divmod(row % units, net.W)
            first, last = net.reach_start[j], net.reach_start[j + 1]
            at = net.D_start[j] + unit * (last - first)
            place = {int(state): int(at + n) for n, state in enumerate(net.reach[first:last])}
        else:
            gate = (row - 2 * units) % gates
            place = {k * C + gate % C: gate * S + k for k in range(S)}
        if net.Q > P:
            followed = range(C + 1) if all_w else columns
            here += [P + int(i) for i in followed]
            keeps += [np.ones(LANES, np.bool_) if all_w or w_sets is None else w_sets[row, i] for i in followed]
        states += here
        local += [place.get(state, -1) for state in here]
        kept += keeps
        fresh.append(here != before)
        before = here if net.start[row + 1] > net.start[row] else before  # empty rows are skipped
        start.append(len(states))
        memory.append(memory[-1] + len(here) * int(net.start[row + 1] - net.start[row]))
    mask = np.array(kept).astype(dtype).reshape(-1, LANES)
    lists = [np.array(each, dtype=np.int64) for each in (start, states, local, memory)]
    return Tracked(lists[0], lists[1], lists[2], np.array(fresh), lists[3], mask, not bool(mask.all()), leak)
