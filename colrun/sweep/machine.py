"""How fast this machine is against the one that estimates of work are for.

Those were made with all cores of that machine at work, as in a sweep. Another machine is compared with it by a few
matrix products, and once a sweep has results, `status` and `--dry-run` go by what those took.
"""

import time

REFERENCE_SECONDS = 0.0026
"""512 float32 products of 64 x 64 matrices on one core of the machine that estimates are for."""


def machine_factor() -> float:
    """How much slower this machine is than that one, by some milliseconds of matrix products.

    Small ones, as a library spreads large ones over all cores, where they wait for each other on a busy machine.
    """
    import numpy as np

    squares = np.ones((512, 64, 64), dtype=np.float32)
    times = []
    for _ in range(7):
        started = time.thread_time()  # not by the clock: a busy machine is no slower one
        squares @ squares
        times.append(time.thread_time() - started)
    return min(times) / REFERENCE_SECONDS
