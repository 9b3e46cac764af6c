"""The variances of docs/estimators.md (C = 20, W = 50, float32). `python -m tests.variances` measures them again."""

import numpy as np

from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.estimators import ESTIMATORS, fast_forms, parse_estimator
from colrun.networks.architecture import Architecture

NAMES = [parse_estimator(name) for name, entry in ESTIMATORS.items() if entry.stochastic]
SETTINGS: list[tuple[str, str, float | None]] = [
    ("additive", "text", None),
    ("gru", "text", None),
    ("lstm", "text", None),
    ("additive", "release", 1e-3),
    ("feedforward", "text", 1e-2),
]


def measured(cell: str, reading: str, step_size: float | None, level: float | str, seeds: range, draws: int) -> str:
    """Median over networks of variance, and in brackets mean alignment and cosine of one draw, by estimator."""
    architecture = Architecture.of(cell, 20, 50, level, 50, reading)
    forms = fast_forms(NAMES)
    blocks = [
        measure(Batch.draw(architecture, tuple(range(first, first + 5)), 50, "float32"), forms, step_size, draws)
        for first in seeds[::5]
    ]
    cells = []
    for name in NAMES:
        found = {metric: np.concatenate([block[name][metric] for block in blocks]) for metric in blocks[0][name]}
        kept = ~found["diverged"]
        variance, bias = (found[metric][kept] for metric in ("variance", "bias"))
        unbiased = (np.square(bias) - variance / draws).mean() / (variance / draws).mean()
        cells.append(
            f"{np.median(variance):.3g} ({found['alignment'][kept].mean():.3f}, {found['cosine'][kept].mean():.2f}; "
            f"{unbiased:+.2f})"
        )
    return " | ".join([*cells, str(int(kept.sum()))])


def table() -> None:
    """One row per setting and level."""
    print("| cell, reading, α | s | " + " | ".join(map(str, NAMES)) + " | networks |")
    for cell, reading, step_size in SETTINGS:
        for level in (0.0, "10%", "dense"):
            row = measured(cell, reading, step_size, level, range(20), 10)
            print(f"| {cell}, {reading}, {step_size or 'fixed w'} | {level} | {row} |", flush=True)


if __name__ == "__main__":
    table()
