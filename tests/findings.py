"""The findings of docs/differences.md (C = 20, W = 50, float64). `python -m tests.findings` measures them again."""

import numpy as np

from colrun.engine.batch import Batch
from colrun.engine.measure import measure
from colrun.estimators import fast_forms, parse_estimator
from colrun.networks.architecture import Architecture
from colrun.streams import Array


def metrics(
    architecture: Architecture, seeds: range, step_size: float | None, estimators: list[str]
) -> dict[str, dict[str, Array]]:
    """Every metric (seeds,) by estimator."""
    names = [parse_estimator(name) for name in estimators]
    blocks = []
    for start in seeds[::10]:
        block = range(start, min(start + 10, seeds.stop))
        batch = Batch.draw(architecture, tuple(block), 50, "float64")
        blocks.append(measure(batch, fast_forms(names), step_size))
    return {
        str(name): {metric: np.concatenate([block[name][metric] for block in blocks]) for metric in blocks[0][name]}
        for name in names
    }


def diverged_share(lateral: float | str, seeds: range, reading: str = "text", step_size: float = 1e-2) -> float:
    """Share of the recurrent ablation's networks that diverge; the truth alone decides it here."""
    found = metrics(Architecture.of(lateral=lateral, reading=reading), seeds, step_size, ["bptt"])
    return float(found["bptt"]["diverged"].mean())


def ablation(seeds: range) -> dict[str, Array]:
    """Alignment at s = 0 with and without the meta-gradient, release, α = 1e-3."""
    found = metrics(Architecture.of(reading="release"), seeds, 1e-3, ["master-user", "master-user-no-meta"])
    return {name: values["alignment"][~values["diverged"]] for name, values in found.items()}


def whole_recurrence(seeds: range) -> Array:
    """Master-User's alignment at s = 0 if U alone is masked."""
    return metrics(Architecture.of(mask_recurrence=False), seeds, None, ["master-user"])["master-user"]["alignment"]


def mean_and_error(values: Array) -> str:
    """Mean and one standard error over networks."""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / len(values) ** 0.5:.3f} (n = {len(values)})"


def table() -> None:
    """All of them."""
    seeds = range(300)
    for lateral in (0.0, "10%", "100%", "dense"):
        print(f"additive, text, α = 1e-2, s = {lateral}: {diverged_share(lateral, seeds):.1%} diverge")
    print(f"additive, release, α = 1e-3, s = 0: {diverged_share(0.0, seeds, 'release', 1e-3):.1%} diverge")
    for name, alignment in ablation(seeds).items():
        print(f"  alignment of {name}: {mean_and_error(alignment)}")
    print(f"text, R unmasked, s = 0, alignment of master-user: {mean_and_error(whole_recurrence(seeds))}")


if __name__ == "__main__":
    table()
