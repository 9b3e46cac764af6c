"""The weights of a group of networks as one list, row by row: a row is a sum of weights times what they see.

What weights see lies in one list u(t) = (x(t), 1, h(t-1), z(t), f(t)), the last two where there are feature layers, so
every row is π = Σ_m θ_m u[source_m], and ∂s/∂θ_m = ∂s/∂π · u[source_m]. Rows, in the order in which they are computed:

    C·W of the first layers, C·W of the second, G·C of gates (V or U, with q), G·C of gates (R)

Where R h enters a gate just as V x does, its weights may be joined to the row of V, and the row of R is empty.
Weights that exist in no lane of the group are not listed. States are numbered k·C + i; where an estimator also follows
the readout weights, w_i comes next and w_0 last: Q numbers in all.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from colrun.lanes.vectors import LANES
from colrun.networks.architecture import Architecture
from colrun.networks.cells import CELLS
from colrun.networks.draw import draw_numbers, draw_weights, masks_of
from colrun.streams import Array

APART = {"gru": ("n",)}
"""Gates in which R h does not simply add to the rest."""
CELL_NUMBERS = {"additive": 0, "feedforward": 1, "gru": 2, "mgu": 3, "lstm": 4}


class Net(NamedTuple):
    """What kernels know of a group's networks besides their weights."""

    cell: int
    S: int
    G: int
    C: int
    W: int
    inputs: int
    P: int
    Q: int
    z_at: int
    """Where z and f begin in u, and its length."""
    f_at: int
    seen: int
    start: Array
    """(rows + 1,): where a row's weights begin"""
    source: Array
    """(weights,): what each multiplies"""
    column: Array
    """(rows,): the column that owns the row"""
    links: Array
    """(links, 4) of the R weights in J: weight, row among gates, column i, column j"""
    own: Array
    """(C·W,): the weight by which a unit of the first layer sees its own state; -1 for none"""
    reach_start: Array
    """(C + 1,): features of column j enter the states reach[reach_start[j] : reach_start[j + 1]]"""
    reach: Array
    D_start: Array
    """(C + 1,): where ∂s/∂π of column j's units begin, unit after unit"""
    D_at: Array
    """(weights,): of U weights, the place of ∂s_i/∂(their feature); -1 for others"""
    exists: Array
    """(weights, LANES): 1 or 0"""
    masked: bool
    """Whether `exists` holds any 0"""


class Listed(NamedTuple):
    """Where the listed weights are in the named arrays."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    name: Array
    """(weights,): the number of its name"""
    place: Array
    """(weights,): within the flattened array of that name"""

    def pick(self, values: Iterable[dict[str, Array]]) -> Array:
        """(weights, lanes) from one dict of named arrays per lane."""
        found = np.empty((self.name.size, 0))
        columns = []
        for named in values:
            column = np.empty(self.name.size, next(iter(named.values())).dtype)
            for n, name in enumerate(self.names):
                here = self.name == n
                column[here] = named[name].reshape(-1)[self.place[here]]
            columns.append(column)
        return np.stack(columns, axis=1) if columns else found

    def spread(self, values: Array) -> dict[str, Array]:
        """One lane's list as named arrays, 0 where nothing is listed."""
        named = {}
        for n, (name, shape) in enumerate(zip(self.names, self.shapes, strict=True)):
            whole = np.zeros(int(np.prod(shape)), values.dtype)
            here = self.name == n
            whole[self.place[here]] = values[here]
            named[name] = whole.reshape(shape)
        return named


class Drawn(NamedTuple):
    """θ(0) of one seed and which of its weights exist, by name."""

    theta: dict[str, Array]
    masks: dict[str, Array]


def draw(architecture: Architecture, seed: int) -> Drawn:
    theta = draw_weights(architecture, seed)
    masks = masks_of(architecture, draw_numbers(architecture, seed))
    masks = {name: masks.get(name, np.ones(value.shape, np.bool_)) for name, value in theta.items()}
    return Drawn({name: value * masks[name] for name, value in theta.items()}, masks)


def rows_and_sources(
    architecture: Architecture, name: str, shape: tuple[int, ...], joined: bool
) -> tuple[Array, Array]:
    """The row of every weight of that name, and what it multiplies, in the shape of the array."""
    C, W, inputs = architecture.columns, architecture.width, architecture.inputs
    gates = CELLS[architecture.cell].gates
    one, h_at = inputs, inputs + 1
    z_at, f_at = h_at + C, h_at + C + C * W
    at = np.indices(shape)
    kind, _, gate = name.partition(".")
    if gate:
        row = 2 * C * W + gates.index(gate) * C + at[0]
        if kind == "R":
            joined = joined and gate not in APART.get(architecture.cell, ())
            return row + (0 if joined else len(gates) * C), h_at + at[1]
        if kind == "q":
            return row, np.full(shape, one)
        return row, at[1] if kind == "V" else f_at + at[1] * W + at[2]
    row = at[0] * W + at[1] + (C * W if kind in "Bc" else 0)
    if kind == "A":
        return row, np.where(at[2] == inputs, h_at + at[0], at[2])
    return row, z_at + at[0] * W + at[2] if kind == "B" else np.full(shape, one)


def layout(
    architecture: Architecture,
    drawn: list[Drawn],
    meta: bool,
    dtype: np.dtype[np.floating],
    own_links: bool = False,
    own_features: bool = False,
    joined: bool = True,
) -> tuple[Net, Listed]:
    """Of LANES networks. `own_links`, `own_features`: J, or ∂s/∂π of feature layers, within columns alone; `joined`:
    V and R of a gate in one row where they can be."""
    C, W, inputs = architecture.columns, architecture.width, architecture.inputs
    entry = CELLS[architecture.cell]
    S, G = entry.states, len(entry.gates)
    parts = []
    shapes = {name: value.shape for name, value in drawn[0].theta.items()}
    for n, (name, shape) in enumerate(shapes.items()):
        row, source = rows_and_sources(architecture, name, shape, joined)
        some = np.any([each.masks[name] for each in drawn], axis=0).reshape(-1)
        place = np.flatnonzero(some)
        parts.append(np.stack([row.reshape(-1)[place], source.reshape(-1)[place], np.full(place.size, n), place]))
    row, source, name_of, place = np.concatenate(parts, axis=1)
    order = np.lexsort((source, row))
    row, source, name_of, place = (np.ascontiguousarray(each[order]) for each in (row, source, name_of, place))
    listed = Listed(tuple(shapes), tuple(shapes.values()), name_of, place)
    exists = listed.pick(each.masks for each in drawn).astype(dtype)
    rows = 2 * C * W + 2 * G * C
    start = np.searchsorted(row, np.arange(rows + 1))
    column = np.concatenate([np.repeat(np.arange(C), W), np.repeat(np.arange(C), W), np.tile(np.arange(C), 2 * G)])
    z_at, f_at = inputs + 1 + C, inputs + 1 + C + C * W
    R = np.flatnonzero((row >= 2 * C * W) & (source > inputs) & (source < z_at))
    links = np.stack([R, (row[R] - 2 * C * W) % (G * C), column[row[R]], source[R] - inputs - 1], axis=1)
    if own_links:
        links = links[links[:, 2] == links[:, 3]]
    own = np.full(C * W, -1)
    seen_own = np.flatnonzero((row < C * W) & (source > inputs))
    own[row[seen_own]] = seen_own
    reach_start, reach, D_start, D_at = reached_by_features(W, S, f_at, row, source, column, own_features)
    P = S * C
    net = Net(
        CELL_NUMBERS[architecture.cell], S, G, C, W, inputs, P, P + C + 1 if meta else P,
        z_at, f_at, f_at + C * W, start, source, column, np.ascontiguousarray(links), own,
        reach_start, reach, D_start, D_at, exists, not bool(exists.all()),
    )  # fmt: skip
    assert exists.shape[1] == LANES
    return net, listed


def reached_by_features(
    W: int, S: int, f_at: int, row: Array, source: Array, column: Array, own_features: bool
) -> tuple[Array, Array, Array, Array]:
    """`reach_start`, `reach`, `D_start` and `D_at` of `Net`."""
    C = int(column.max()) + 1
    into = column[row]
    U = np.flatnonzero(source >= f_at)
    whose = (source[U] - f_at) // max(W, 1)
    if own_features:
        kept = whose == into[U]
        U, whose = U[kept], whose[kept]
    enters = np.zeros((C, C), np.bool_)
    enters[whose, into[U]] = True
    count = enters.sum(1)
    reach = np.concatenate([[k * C + i for i in np.flatnonzero(each) for k in range(S)] for each in enters] or [[]])
    reach_start = np.concatenate([[0], np.cumsum(S * count)])
    D_start = np.concatenate([[0], np.cumsum(W * S * count)])
    rank = np.cumsum(enters, axis=1) - 1
    D_at = np.full(row.size, -1)
    unit = (source[U] - f_at) % max(W, 1)
    D_at[U] = D_start[whose] + unit * S * count[whose] + S * rank[whose, into[U]]
    return reach_start, reach.astype(np.int64), D_start, D_at
