"""Master-User with columns against random groups of weights, on the columnar network and on a dense RNN."""

from dataclasses import replace

from matplotlib.figure import Figure

from colrun.drawing.source import Source
from colrun.estimators import EstimatorEntry
from colrun.experiments.alignment.figures import alignment

DENSE_RNN = EstimatorEntry(
    "", "", label="random groups, dense RNN", short="RNN", colour="#56B4E9", dash="dotted"
)  # no estimator, but a curve beside those of estimators


def draw(source: Source) -> Figure:
    """As rnn-alignment; the dense RNN, which has no lateral ratio, stands as a point of its own at "dense"."""
    frame = source.frame.copy()
    frame.loc[frame["network"] == "dense-rnn", "estimator"] = "dense-rnn"
    return alignment.draw(
        replace(source, frames={source.sweep: frame.drop(columns="network")}), {"dense-rnn": DENSE_RNN}
    )
