"""Figures of experiment decay. This table imports neither torch nor matplotlib."""

from colrun.drawing import FigureEntry

FIGURES = {
    "state-decay": FigureEntry(
        f"{__name__}.state_decay", "how fast untrained LSTM and GRU cells forget, with and without bias",
        {"state-decay": "decay"}, order=60,
    )
}  # fmt: skip
