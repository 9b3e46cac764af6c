"""Cells: how a column's pre-activations become its next state. One file per cell; this table imports no torch."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from colrun.errors import choose

if TYPE_CHECKING:
    from colrun.networks.cells.base import Cell


@dataclass(frozen=True)
class CellEntry:
    """What can be said of a cell without importing torch."""

    gates: tuple[str, ...]
    """Each gate has its own U, R, mask and bias."""
    summary: str
    recurrent: bool = True
    """Whether R exists and columns may see their own state."""
    states: int = 1
    """Numbers in a column's state: 1 (h_i), or 2 (h_i and a memory m_i)."""


CELLS: dict[str, CellEntry] = {
    "additive": CellEntry(("p",), "h_i(t) = h_i(t-1) + tanh(p_i): eq. recurrent_used"),
    "feedforward": CellEntry(("p",), "h_i(t) = tanh(U_i f(t)), no recurrence: eq. meta_used", recurrent=False),
    "gru": CellEntry(("g", "r", "n"), "gated recurrent unit with update gate g, reset gate r and candidate n"),
    "mgu": CellEntry(("g", "p"), "h_i = g h_i(t-1) + (1-g) tanh(p_i): what the released code calls a GRU"),
    "lstm": CellEntry(("f", "i", "o", "p"), "long short-term memory; the state is the pair (h_i, m_i)", states=2),
}


def get_cell(name: str) -> "Cell":
    """The cell of that name: the object `CELL` of the module of that name."""
    choose(name, CELLS, "cell")
    cell: Cell = import_module(f"colrun.networks.cells.{name}").CELL
    return cell
