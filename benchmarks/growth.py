"""CPU time and peak memory of one network with six estimators, by size and length: `python -m benchmarks.growth`.

Every point is a process of its own, so that its memory is its own; lateral 10 %, all that a sweep does from drawing on.
"""

import argparse
import resource
import subprocess
import sys
import time

SIZES, STEPS = (5, 20, 50, 100, 200), (50, 200, 1000)


def point(size: int, steps: int) -> None:
    """Print milliseconds a network and megabytes."""
    from colrun.run.threads import one_thread

    one_thread()
    from colrun.experiments import get_experiment
    from colrun.experiments.alignment import job

    experiment = get_experiment("alignment")
    config = experiment.point(columns=size, width=size, lateral=0.1, steps=steps)
    number = experiment.batch_size(config)
    names = ["master-user", "tbptt-1", "tbptt-3", "tbptt-5", "tbptt-20", "tbptt-40"]
    job.run(experiment.point(columns=3, width=3, lateral=0.1, steps=3), [0], names)  # loads what is compiled
    best, spent, first = float("inf"), 0.0, 0
    while spent < 1.0:
        started = time.process_time()
        job.run(config, list(range(first, first + number)), names)
        taken = time.process_time() - started
        best, spent, first = min(best, taken / number), spent + taken, first + number
    print(1e3 * best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--point", nargs=2, type=int, metavar=("SIZE", "STEPS"))
    options = parser.parse_args()
    if options.point:
        point(*options.point)
        return
    print("C=W    T      ms a network    MB")
    for size in SIZES:
        for steps in STEPS:
            command = [sys.executable, "-m", "benchmarks.growth", "--point", str(size), str(steps)]
            found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            print(f"{size:<6} {steps:<6} {float(found[0]):<15.3g} {float(found[1]):.0f}", flush=True)


if __name__ == "__main__":
    main()
