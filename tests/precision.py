"""Measures float32 against float64. `python -m tests.precision` prints the table of docs/numerics.md."""

import numpy as np

from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.estimators import fast_forms, parse_estimator
from colrun.networks.architecture import Architecture
from colrun.streams import Array

NAMES = ["master-user", "tbptt-1", "tbptt-5", "tbptt-40", "tbptt-block-40"]


def differences(architecture: Architecture, seeds: range, step_size: float | None = None) -> dict[str, Array]:
    """alignment in float32 minus that in float64, per network, by estimator."""
    names = [parse_estimator(name) for name in NAMES]
    found: dict[str, list[Array]] = {name: [] for name in NAMES}
    for start in seeds[::10]:
        block = range(start, min(start + 10, seeds.stop))
        single, double = (
            measure(Batch.draw(architecture, tuple(block), 50, dtype), fast_forms(names), step_size)
            for dtype in ("float32", "float64")
        )
        for name in names:
            found[str(name)].append(single[name]["alignment"] - double[name]["alignment"])
    return {name: np.concatenate(values) for name, values in found.items()}


SETTINGS: dict[str, tuple[Architecture, float | None]] = {
    "additive, text, s = 0": (Architecture.of(), None),
    "additive, text, s = 1 %": (Architecture.of(lateral="1%"), None),
    "additive, text, dense": (Architecture.of(lateral="dense"), None),
    "additive, release, s = 10 %": (Architecture.of(lateral="10%", reading="release"), None),
    "feedforward, text, s = 1 %, α = 1e-2": (Architecture.of("feedforward", lateral="1%"), 1e-2),
    "gru, text, s = 10 %": (Architecture.of("gru", lateral="10%"), None),
}


def table() -> None:
    """Mean, share within 0.005, and the worst network, over 100 seeds."""
    for label, (architecture, step_size) in SETTINGS.items():
        for name, difference in differences(architecture, range(100), step_size).items():
            size = np.abs(difference)
            share = float((size <= 0.005).mean())
            mean, worst = f"{difference.mean():+.1e}", f"{size.max():.1e} (seed {int(size.argmax())})"
            if not size.any():  # the same in every network: none is the worst
                mean, worst = "0", "none"
            print(f"| {label} | `{name}` | {mean} | {share:.0%} | {worst} |")


if __name__ == "__main__":
    table()
