"""Alignment against lateral ratio: one panel per reading, mean and one standard error over networks."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

MASTER_USER = "black"
BLOCK_STYLE = (0, (2, 1.5))


def draw(frame: pd.DataFrame) -> Figure:
    """Diverged rows are left out of means and counted below the panel."""
    readings = [reading for reading in ("text", "release") if reading in set(frame["reading"])]
    with sns.axes_style("ticks"), sns.plotting_context("paper"):
        figure, axes = plt.subplots(
            1, len(readings), figsize=(0.6 + 4.2 * len(readings), 3.4), sharey=True, squeeze=False, layout="constrained"
        )
        for ax, reading in zip(axes[0], readings, strict=True):
            _panel(ax, frame[frame["reading"] == reading])
            ax.set_title(f"reading “{reading}”")
        axes[0, 0].set_ylabel("gradient alignment")
        sns.despine(figure)
    return figure


def _panel(ax: Axes, frame: pd.DataFrame) -> None:
    levels = sorted(frame["lateral"].unique())
    positive = [level for level in levels if level > 0] or [1.0]
    zero = min(positive) / 4  # where 0 stands on the logarithmic axis
    windows = sorted(frame["window"].dropna().unique())
    colours = dict(zip(windows, sns.color_palette("viridis_r", len(windows)), strict=True))
    ends: list[tuple[float, str, object]] = []
    for (estimator, window), curve in frame.groupby(["estimator", "window"], dropna=False):
        kept = curve[~curve["diverged"]].groupby("lateral")["alignment"].agg(["mean", "sem"])
        if kept.empty:
            continue
        x = 100 * np.where(kept.index == 0, zero, kept.index)
        colour = colours.get(window, MASTER_USER)
        style = BLOCK_STYLE if estimator == "tbptt-block" else "-"
        ax.plot(x, kept["mean"], color=colour, linestyle=style, linewidth=1.8 if window != window else 1.2)
        ax.fill_between(
            x, kept["mean"] - kept["sem"], kept["mean"] + kept["sem"], color=colour, alpha=0.25, linewidth=0
        )
        if estimator != "tbptt-block":
            label = "Master-User" if window != window else f"{window:.0f}"
            ends.append((float(kept["mean"].iloc[-1]), label, colour))
    _label_ends(ax, 100 * max(positive), ends)
    ax.set_xscale("log")
    ticks = [100 * zero, *(100 * level for level in positive)]
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    dense = float(frame["columns"].max() - 1)
    names = ["dense" if level == dense else f"{100 * level:g}" for level in positive]
    ax.set_xticklabels(["0", *names], rotation=45, ha="right")
    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    ax.set_xlabel("lateral connections (% of own)")
    networks = frame.groupby("lateral")["seed"].nunique()
    count = f"{networks.min()}" if networks.min() == networks.max() else f"{networks.min()} to {networks.max()}"
    diverged = frame[frame["diverged"]]["job"].nunique()
    lost = f", {diverged} diverged" if diverged else ""
    blocks = "; dashed: blocks" if (frame["estimator"] == "tbptt-block").any() else ""
    ax.text(0.02, 0.02, f"n = {count} networks per point{lost}\nsolid: sliding window{blocks}", transform=ax.transAxes,
            fontsize=7, va="bottom")  # fmt: skip


def _label_ends(ax: Axes, x: float, ends: list[tuple[float, str, object]]) -> None:
    """Names at the right end, moved apart where they would overlap."""
    gap, below = 0.033, -np.inf
    for y, label, colour in sorted(ends, key=lambda end: end[0]):
        at = max(y, below + gap)
        below = at
        ax.annotate(label, (x, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7, color=colour,
                    annotation_clip=False)  # fmt: skip
