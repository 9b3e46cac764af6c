"""Figures of experiment alignment. This table imports neither torch nor matplotlib."""

from colrun.drawing import Explored, FigureEntry

METRICS = ("alignment", "cosine", "norm_ratio", "mae")
"""What most of them can show, the usual one first."""


def _entry(order: int, module: str, sweep: str, summary: str, metrics: tuple[str, ...] = METRICS) -> FigureEntry:
    return FigureEntry(f"{__name__}.{module}", summary, {sweep: "alignment"}, metrics, order)


FIGURES = {
    "demo": _entry(0, "alignment", "demo", "rnn-alignment in small: the demo sweep"),
    "rnn-alignment": _entry(10, "alignment", "rnn-alignment", "alignment against lateral ratio, additive network"),
    "rnn-alignment-seeds": _entry(20, "seeds", "rnn-alignment", "the same network by network: median and quartiles"),
    "meta-alignment": _entry(30, "alignment", "meta-alignment", "the same for the meta-gradient alone"),
    "meta-alignment-seeds": _entry(40, "seeds", "meta-alignment", "the same network by network"),
    "meta-ablation": _entry(50, "ablation", "meta-ablation", "Master-User with and without the meta-gradient", ()),
    "gru-alignment": _entry(70, "alignment", "gru-alignment", "as rnn-alignment, on gated cells"),
    "gru-alignment-seeds": _entry(80, "seeds", "gru-alignment", "the same network by network"),
    "step-size": _entry(90, "alignment", "step-size", "as meta-alignment, one panel per step size"),
    "rnn-grid": _entry(100, "grid", "rnn-grid", "as rnn-alignment, for 25 shapes of network"),
    "meta-grid": _entry(110, "grid", "meta-grid", "as meta-alignment, for 25 shapes and three step sizes"),
    "estimators": _entry(140, "estimators", "estimators", "alignment, cosine and norm ratio of all estimators", ()),
}

EXPLORED = {
    "reading": Explored("reading"),
    "cell": Explored("cell"),
    "columns": Explored("C, columns", (20,)),
    "width": Explored("W, width", (50,)),
    "step_size": Explored("step size α", (0, 0.01)),
}
"""What a reader of the report picks before estimators and metric; a step size of 0 stands for a fixed w."""
