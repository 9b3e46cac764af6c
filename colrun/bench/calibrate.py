"""Fits the prices of experiments/alignment/work.py: `python -m colrun.bench.calibrate`.

Run it with as many copies at once as there are cores, since that is how sweeps run.
"""

import os
import sys

from colrun.run.threads import one_thread

one_thread()

import numpy as np  # noqa: E402

from colrun.bench.measure import cpu_seconds  # noqa: E402
from colrun.experiments import get_experiment  # noqa: E402
from colrun.experiments.alignment import job as alignment  # noqa: E402
from colrun.experiments.alignment.work import PRICES, counts  # noqa: E402

RNN = ["master-user", "tbptt-1", "tbptt-3", "tbptt-5", "tbptt-20", "tbptt-40"]
SHAPES = [(5, 5), (5, 50), (10, 20), (20, 20), (20, 50), (50, 10), (50, 50), (20, 100), (100, 20), (100, 100), (5, 100)]
SETTINGS: list[tuple[str, str, float | None, list[str]]] = [
    ("additive", "text", None, RNN),
    ("additive", "text", 1e-3, ["master-user", "master-user-no-meta"]),
    ("additive", "release", 1e-3, ["master-user", "master-user-no-meta"]),
    ("feedforward", "text", 1e-2, ["master-user", "tbptt-1", "tbptt-40"]),
    ("gru", "text", None, [*RNN, "tbptt-block-5", "tbptt-block-40"]),
]


def points() -> list[tuple[dict[str, float], float, str]]:
    """Counts, measured seconds and a label of one job each."""
    found = []
    experiment = get_experiment("alignment")
    for cell, reading, step_size, names in SETTINGS:
        for C, W in SHAPES:
            if cell == "gru" and C * W > 2000:
                continue
            for level in (0.0, 0.1, float(C - 1)):
                config = experiment.point(
                    cell=cell, reading=reading, step_size=step_size, columns=C, width=W, lateral=level
                )
                size = experiment.batch_size(config)
                seeds = list(range(size))
                taken = cpu_seconds(lambda c=config, s=seeds, n=names: alignment.run(c, s, n), least=0.2, most=20)  # type: ignore[misc]
                kinds = counts(config, len(names), 40 if "tbptt-40" in names else 0)
                found.append((kinds, taken / size, f"{cell} {reading} C={C} W={W} s={level:g}"))
                print(f"{found[-1][2]:45} {1e3 * taken / size:9.3f} ms", file=sys.stderr)
    return found


def fit(measured: list[tuple[dict[str, float], float, str]]) -> dict[str, float]:
    """Prices with the least squares of relative errors; none falls below a tenth of what it was: some go together."""
    names = list(measured[0][0])
    least = np.array([PRICES[name] / 10 for name in names])
    rows = np.array([[kinds[name] / seconds for name in names] for kinds, seconds, _ in measured])
    active = list(range(len(names)))
    while True:
        fixed = [n for n in range(len(names)) if n not in active]
        prices = least.copy()
        left = np.ones(len(rows)) - rows[:, fixed] @ least[fixed]
        prices[active] = np.linalg.lstsq(rows[:, active], left, rcond=None)[0]
        negative = [n for n in active if prices[n] < least[n]]
        if not negative:
            return {name: float(price) for name, price in zip(names, prices, strict=True)}
        active = [n for n in active if n not in negative]


def main() -> None:
    """Measure, fit and print."""
    measured = points()
    prices = fit(measured)
    ratios = []
    for kinds, seconds, label in measured:
        ratios.append(sum(prices[kind] * count for kind, count in kinds.items()) / seconds)
        if not 0.75 < ratios[-1] < 1.33:
            print(f"off: {label}: estimated {ratios[-1]:.2f} of measured")
    print(f"worst ratios {min(ratios):.2f} and {max(ratios):.2f}, {os.cpu_count()} cores")
    for kind, price in prices.items():
        print(f'    "{kind}": {price:.3g},')


if __name__ == "__main__":
    main()
