"""Microseconds per step of the plain loop and, per lane, of the lanes: alternating rounds in one process, one core.

python benchmarks/learners.py [--rounds 7] [--steps 2000]
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import plain_learner

from colrun.lanes.run import Lanes
from colrun.lanes.vectors import LANES
from colrun.networks.architecture import Architecture
from colrun.networks.draw import draw_weights, initial_w
from colrun.tasks import stream

C, TASK, INPUTS, ETA = 10, "add-5-9", 2, 1e-3
KINDS = {"rtrl": (plain_learner.RTRL, 1), "master-user": (plain_learner.MASTER_USER, 1), "tbptt-20": (2, 20)}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--steps", type=int, default=2000)
    options.add_argument("--groups", type=int, default=2)
    given = options.parse_args()
    heads = ("plain, libm's tanh, µs", "plain, vectorised, µs", "lanes µs")
    print(f"{'learner':12s} {heads[0]:>24s} {heads[1]:>24s} {heads[2]:>24s}   times as fast     mean squared errors")
    for name in KINDS:
        measure(name, given.rounds, given.steps, given.groups * LANES)


def measure(name: str, rounds: int, steps: int, lanes: int) -> None:
    architecture = Architecture.of("mgu", C, 0, "dense", INPUTS, "practical")
    seeds = list(range(lanes))
    streams = [stream(TASK, seed, steps, INPUTS) for seed in seeds]
    x, y, counted = (np.stack([getattr(each, part) for each in streams], -1) for part in ("x", "y", "counted"))
    drawn = draw_weights(architecture, 0)
    theta = np.stack(
        [np.concatenate([drawn[f"V.{g}"], drawn[f"q.{g}"][:, None], drawn[f"R.{g}"]], axis=1) for g in "gp"]
    ).astype(np.float32)
    w = np.append(initial_w(0, C), 0).astype(np.float32)
    one = [np.ascontiguousarray(part[..., 0], kind) for part, kind in ((x, "f4"), (y, "f4"), (counted, "?"))]
    kind, window = KINDS[name]
    found = {}

    def plain(libm: bool) -> None:
        found["plain"] = plain_learner.run(kind, window, libm, theta.copy(), w.copy(), *one, ETA, 0.2 / (C + 1))

    plain(False)
    Lanes(architecture, name, seeds, [ETA] * lanes).run(x[:20], y[:20], counted[:20])
    times: dict[str, list[float]] = {"libm": [], "plain": [], "lanes": []}
    for _ in range(rounds):
        times["libm"].append(timed(lambda: plain(True)) / steps)
        times["plain"].append(timed(lambda: plain(False)) / steps)
        made = Lanes(architecture, name, seeds, [ETA] * lanes)

        def run(made: Lanes = made) -> None:
            sums = made.run(x, y, counted)
            found["lanes"] = (sums.errors / sums.counts)[0]

        times["lanes"].append(timed(run) / steps / lanes)
    shown = [f"{1e6 * np.median(each):.3f} ({1e6 * min(each):.3f} … {1e6 * max(each):.3f})" for each in times.values()]
    lanes_take = np.median(times["lanes"])
    ratios = " and ".join(f"{np.median(times[who]) / lanes_take:.2f}" for who in ("libm", "plain"))
    errors = f"{found['plain']:.6f} {found['lanes']:.6f}"
    print(f"{name:12s} {shown[0]:>24s} {shown[1]:>24s} {shown[2]:>24s}   {ratios:>15s}   {errors}", flush=True)


def timed(call: Callable[[], None]) -> float:
    """Seconds of this process alone: others may be at work on the machine."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
