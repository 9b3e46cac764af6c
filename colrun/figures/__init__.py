"""Figures: one file per kind, rows in, a Figure out. This table imports neither torch nor matplotlib."""

from collections.abc import Mapping
from dataclasses import dataclass, field

METRICS = ("alignment", "cosine", "norm_ratio", "mae")
STYLE_NAMES = ("paper", "talk")
FORMATS = ("png", "pdf", "svg")


@dataclass(frozen=True)
class FigureEntry:
    """A figure."""

    module: str
    """Of this package; its function `draw` takes a `Source` and returns a Figure."""
    summary: str
    needs: Mapping[str, str] = field(default_factory=dict)
    """Sweep → experiment of the rows that it shows; nothing for a drawing."""
    metrics: tuple[str, ...] = ()
    """What it can show, the usual one first; nothing where there is no choice."""


def _alignment(module: str, sweep: str, summary: str, metrics: tuple[str, ...] = METRICS) -> FigureEntry:
    return FigureEntry(module, summary, {sweep: "alignment"}, metrics)


FIGURES = {
    "demo": _alignment("alignment", "demo", "rnn-alignment in small: the demo sweep"),
    "rnn-alignment": _alignment("alignment", "rnn-alignment", "alignment against lateral ratio, additive network"),
    "rnn-alignment-seeds": _alignment("seeds", "rnn-alignment", "the same network by network: median and quartiles"),
    "meta-alignment": _alignment("alignment", "meta-alignment", "the same for the meta-gradient alone"),
    "meta-alignment-seeds": _alignment("seeds", "meta-alignment", "the same network by network"),
    "meta-ablation": _alignment("ablation", "meta-ablation", "Master-User with and without the meta-gradient", ()),
    "state-decay": FigureEntry(
        "decay", "how fast untrained LSTM and GRU cells forget, with and without bias", {"state-decay": "decay"}
    ),
    "gru-alignment": _alignment("alignment", "gru-alignment", "as rnn-alignment, on gated cells"),
    "gru-alignment-seeds": _alignment("seeds", "gru-alignment", "the same network by network"),
    "step-size": _alignment("alignment", "step-size", "as meta-alignment, one panel per step size"),
    "rnn-grid": _alignment("grid", "rnn-grid", "as rnn-alignment, for 25 shapes of network"),
    "meta-grid": _alignment("grid", "meta-grid", "as meta-alignment, for 25 shapes and three step sizes"),
    "grouping": FigureEntry(
        "grouping",
        "Master-User with columns against random groups of weights, also in a dense RNN",
        {"grouping": "grouping"},
        METRICS,
    ),
    "estimators": _alignment("estimators", "estimators", "alignment, cosine and norm ratio of all estimators", ()),
    "cost": FigureEntry(
        "cost", "operations and memory per step, measured, with fitted and theoretical exponents", {"cost": "cost"}
    ),
    "tradeoff": FigureEntry(
        "tradeoff",
        "alignment against operations and memory per step, all estimators",
        {"estimators": "alignment", "cost": "cost"},
        METRICS[:3],
    ),
    "columns": FigureEntry("columns", "drawing: a columnar network of three columns with lateral connections"),
    "stop-gradient": FigureEntry("stop_gradient", "drawing: where random groups and columns stop the gradient"),
}
