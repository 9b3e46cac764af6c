"""Rows of a sweep → mean, standard error and number of networks, by what varies."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from colrun.claims.show import amount
from colrun.errors import choose
from colrun.experiments import Experiment, get_experiment
from colrun.networks.readings import SWITCHES
from colrun.quality import METRICS

USUAL = ("alignment", "cosine", "mae")


@dataclass(frozen=True)
class Summary:
    """One line per combination of the columns `by`."""

    by: list[str]
    metrics: list[str]
    numbers: pd.DataFrame
    """Those columns; of every metric its mean and, as `<metric>_se`, its standard error; `n` and `diverged`."""
    averaged: list[str]
    """Axes that vary within a line."""

    @property
    def diverged(self) -> bool:
        return bool(self.numbers["diverged"].any())

    @property
    def head(self) -> list[str]:
        return [*self.by, *self.metrics, "n", *(["diverged"] if self.diverged else [])]

    def spoken(self) -> Iterator[list[str]]:
        """Cells for a reader: `95.31 ± 0.12 %`, lateral levels in percent."""
        for row in self.numbers.to_dict("records"):
            cells = [_value(name, row[name]) for name in self.by]
            for name in self.metrics:
                percent = name in METRICS and METRICS[name].percent
                cells.append(amount(row[name], row[f"{name}_se"], "%" if percent else ""))
            yield [*cells, f"{row['n']:,}", *([f"{row['diverged']:,}"] if self.diverged else [])]


def summarise(frame: pd.DataFrame, by: list[str] | None = None, metrics: list[str] | None = None) -> Summary:
    """Over networks that did not diverge; without `by`, all axes that vary tell lines apart, so that none is mixed."""
    experiment = get_experiment(frame["experiment"].iloc[0])
    varying = _varying(frame, experiment)
    if by is None:
        wanted = varying
    else:
        frame = frame.assign(estimator=frame["name"]) if "estimator" in by and "window" not in by else frame
        wanted = [choose(name, frame.columns, "column") for name in dict.fromkeys(by)]
    known = [
        column.name for column in experiment.columns if column.kind in ("float64", "int64") and column.name in frame
    ]
    values = [name for name in known if name not in {*(axis.name for axis in experiment.axes), "seed", "window"}]
    chosen = [choose(name, values, "metric") for name in metrics] if metrics else _usual(experiment, frame, values)
    measured = frame.assign(n=~frame["diverged"])
    measured[chosen] = frame[chosen].where(measured["n"])
    groups = measured.groupby(wanted or (lambda _: 0), dropna=False, sort=False)
    means, errors = groups[chosen].mean(), groups[chosen].sem()
    numbers = groups[["n", "diverged"]].sum()
    for place, name in enumerate(chosen):
        numbers.insert(2 * place, name, means[name])
        numbers.insert(2 * place + 1, f"{name}_se", errors[name])
    numbers = numbers.reset_index(drop=not wanted)
    same = {"name": {"estimator", "window"}, "estimator": {"name"}}
    covered = set(wanted).union(*(same.get(name, set()) for name in wanted))
    return Summary(wanted, chosen, numbers, [name for name in varying if name not in covered])


def _varying(frame: pd.DataFrame, experiment: Experiment[Any]) -> list[str]:
    """Axes with several values, and what tells the rows of a network apart; not switches that readings set."""
    names = [axis.name for axis in experiment.axes if frame[axis.name].nunique(dropna=False) > 1]
    if "reading" in names:
        readings = frame.groupby("reading", dropna=False)
        names = [name for name in names if name not in SWITCHES or readings[name].nunique(dropna=False).max() > 1]
    return [*names, *experiment.along, *(["name"] if experiment.takes_estimators else [])]


def _usual(experiment: Experiment[Any], frame: pd.DataFrame, values: list[str]) -> list[str]:
    common = [name for name in USUAL if name in values]
    real = [column.name for column in experiment.columns if column.kind == "float64" and column.name in values]
    return common or [name for name in real if frame[name].notna().any()]


def _value(name: str, value: object) -> str:
    if value is None or pd.isna(value):  # type: ignore[call-overload]
        return "–"
    if name == "lateral":
        return f"{100 * float(value):g}%"  # type: ignore[arg-type]
    return f"{value:g}" if isinstance(value, float) else str(value)
