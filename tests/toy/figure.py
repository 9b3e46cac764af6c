"""The mean value of all networks along time."""

from matplotlib.figure import Figure

from colrun.drawing import counts
from colrun.drawing.layout import Margins, banner, heading, panels
from colrun.drawing.source import Source


def draw(source: Source) -> Figure:
    figure, axes = panels(source.style, 1, 1, 2.0, 1.5, Margins(), [])
    mean = source.frame.groupby("step")["value"].mean()
    axes[0, 0].plot(mean.index, mean)
    heading(axes[0, 0], source.style, "toy", *counts.note(source.frame, source, ("step",)))
    banner(figure, source.style, counts.missing(source.frame, source.plan))
    return figure
