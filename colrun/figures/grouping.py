"""Master-User with columns against random groups of weights, on the columnar network and on a dense RNN."""

from dataclasses import replace

from matplotlib.figure import Figure

from colrun.figures import alignment
from colrun.figures.source import Source


def draw(source: Source) -> Figure:
    """As rnn-alignment; the dense RNN, which has no lateral ratio, stands as a point of its own at "dense"."""
    frame = source.frame.copy()
    frame.loc[frame["network"] == "dense-rnn", "estimator"] = "dense-rnn"
    return alignment.draw(replace(source, frames={source.sweep: frame}))
