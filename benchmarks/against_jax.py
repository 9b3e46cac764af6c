"""colrun end to end against the same experiment in JAX, on one core: `make bench`.

Both draw other networks in every round, so nothing is known from before, and measure Master-User and five windows.
Rounds alternate, as machines are noisy; what counts is the ratio of CPU times.
"""

import argparse
import os
import time
from collections.abc import Callable

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 " + os.environ.get(
    "XLA_FLAGS", ""
)

from colrun.run.threads import one_thread

one_thread()

import jax  # noqa: E402
import numpy as np  # noqa: E402

from benchmarks import jax_peer  # noqa: E402
from colrun.experiments import get_experiment  # noqa: E402
from colrun.experiments.alignment import job  # noqa: E402

WINDOWS = (1, 3, 5, 20, 40)


def by_colrun(columns: int, width: int, lateral: float, steps: int) -> tuple[Callable[[int], object], int]:
    """What a worker of a sweep does with its batches: draw, run, measure and make rows."""
    experiment = get_experiment("alignment")
    config = experiment.point(columns=columns, width=width, lateral=lateral, steps=steps)
    size = experiment.batch_size(config)
    names = ["master-user", *(f"tbptt-{k}" for k in WINDOWS)]
    return lambda n: job.run(config, list(range(n * size, (n + 1) * size)), names), size


def by_jax(columns: int, width: int, lateral: float, steps: int) -> tuple[Callable[[int], object], int]:
    number, survival, key = 1, lateral / (columns - 1), jax.random.key(0)

    def run(n: int) -> object:
        found = jax_peer.experiment(jax.random.fold_in(key, n), number, columns, width, steps, 50, survival, WINDOWS)
        return jax.tree.map(np.asarray, found)

    return run, number


def seconds(run: Callable[[int], object], size: int, first: int, networks: int) -> float:
    """CPU time per network."""
    batches = max(1, networks // size)
    started = time.process_time()
    for n in range(first * batches, (first + 1) * batches):
        run(n)
    return (time.process_time() - started) / (batches * size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--width", type=int, default=50)
    parser.add_argument("--lateral", type=float, default=0.1, help="ratio (default: 0.1)")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--networks", type=int, default=50, help="in each round (default: 50)")
    options = parser.parse_args()
    shape = options.columns, options.width, options.lateral, options.steps
    both = by_colrun(*shape), by_jax(*shape)
    for run, _ in both:
        run(10**6)  # compiles
    taken = np.array([[seconds(*each, n, options.networks) for each in both] for n in range(options.rounds)])
    ratios = taken[:, 1] / taken[:, 0]
    print(f"C={shape[0]}, W={shape[1]}, lateral {100 * shape[2]:g} %, T={shape[3]}, six estimators, one core")
    for name, each in zip(("colrun", "jax"), taken.T, strict=True):
        print(f"{name:7} {1e3 * np.median(each):.2f} ms a network ({1e3 * each.min():.2f} to {1e3 * each.max():.2f})")
    print(
        f"colrun is {np.median(ratios):.2f} times as fast, from drawing to rows "
        f"({ratios.min():.2f} to {ratios.max():.2f} in {len(ratios)} alternating rounds)"
    )


if __name__ == "__main__":
    main()
