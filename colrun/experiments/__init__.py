"""Experiments: one folder per kind, which declares what it is without importing torch; what runs is in its `job`."""

from importlib import import_module
from typing import Any

from colrun.errors import choose
from colrun.experiments.axes import Axis
from colrun.experiments.declare import Experiment, Row

__all__ = ["EXPERIMENTS", "Experiment", "Row", "all_axes", "get_experiment"]

KINDS = (
    "colrun.experiments.alignment",
    "colrun.experiments.decay",
    "colrun.experiments.cost",
    "colrun.experiments.grouping",
    "colrun.experiments.learning",
)

EXPERIMENTS: dict[str, Experiment[Any]] = {
    declared.name: declared for declared in (import_module(kind).EXPERIMENT for kind in KINDS)
}


def get_experiment(name: object) -> Experiment[Any]:
    return EXPERIMENTS[choose(name, EXPERIMENTS, "experiment")]


def all_axes() -> dict[str, Axis]:
    """Every axis of every experiment by name."""
    return {axis.name: axis for experiment in EXPERIMENTS.values() for axis in experiment.axes}
