"""What more workers are worth: the same sweep by one and by several, in alternating rounds, from an empty folder each.

python benchmarks/cores.py [--workers 2] [--networks 2400,9600] [--rounds 3]

Wall seconds of the whole command, start included, and CPU seconds of all its processes; medians. Kernels are compiled
before, and nothing else should run: efficiency is speed-up by worker.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

SWEEP = ["rnn-alignment", "--reading", "text", "--lateral", "0%,0.1%,1%,3%,10%,30%,100%,dense"]
SWEEP += ["--estimators", "master-user,tbptt-1,tbptt-3,tbptt-5,tbptt-20,tbptt-40"]
LEVELS = 8


def seconds(workers: int, networks: int) -> tuple[float, float]:
    """Wall and CPU."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "colrun", "sweep", *SWEEP, "--seeds", f"0:{networks // LEVELS}", "-q"]
        before, started = os.times(), time.perf_counter()
        subprocess.run([*command, "--out", folder, "-j", str(workers)], check=True)
        wall, after = time.perf_counter() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--networks", default="2400,9600")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    seconds(1, LEVELS * 5)
    print(f"{'networks':>8s} {'1 worker':>16s} {f'{given.workers} workers':>16s} {'speed-up':>10s} {'efficiency':>11s}")
    for networks in map(int, given.networks.split(",")):
        rounds = [(seconds(1, networks), seconds(given.workers, networks)) for _ in range(given.rounds)]
        one, several = (
            [statistics.median(each) for each in zip(*runs, strict=True)] for runs in zip(*rounds, strict=True)
        )
        ratios = [alone[0] / together[0] for alone, together in rounds]
        ratio = statistics.median(ratios)
        times = [f"{wall:.1f} s ({cpu:.1f})" for wall, cpu in (one, several)]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{networks:8d} {times[0]:>16s} {times[1]:>16s} {ratio:10.2f} {ratio / given.workers:10.0%}   {spread}")


if __name__ == "__main__":
    main()
