"""The streams of streams.py, compiled: the same numbers to the last bit, written where they are wanted.

NumPy's SFC64 (Chris Doty-Humphrey's small fast counter, 64 bit), seeded by NumPy's SeedSequence with a key of 128 bits:
both are fixed by NumPy's promise that the streams of its bit generators do not change. A number is 53 bits of a draw
over 2^53, as `Generator.random` has it.
"""

from collections.abc import Iterable

import numpy as np

from colrun.compiling import Array, exact_kernel
from colrun.streams import stream_key

LOW = np.uint64(0xFFFFFFFF)
ONE, THREE, ELEVEN, LEFT, RIGHT = (np.uint64(bits) for bits in (1, 3, 11, 24, 40))
UNIT = 1.0 / 9007199254740992.0


def keys(seeds: Iterable[int], names: list[str]) -> Array:
    """(seeds, names, 4): the keys of streams as words of 32 bits, least first."""
    found = [[stream_key(seed, name).to_bytes(16, "little") for name in names] for seed in seeds]
    return np.frombuffer(b"".join(map(b"".join, found)), "<u4").reshape(len(found), len(names), 4).astype(np.uint64)


@exact_kernel
def seeded(key: Array, state: Array) -> None:
    """The state (4,) before the first number of a stream."""
    pool = np.empty(4, np.uint64)
    constant = np.uint64(0x43B0D7E5)
    for n in range(16):
        source, into = n // 4, n % 4
        if n < 4:
            value = key[n]
        else:
            # Each word of the pool is mixed into the three others, word after word.
            step = n - 4
            source, into = step // 3, step % 3
            into += into >= source
            value = pool[source]
        value = (value ^ constant) & LOW
        constant = (constant * np.uint64(0x931E8875)) & LOW
        value = (value * constant) & LOW
        value ^= value >> np.uint64(16)
        if n < 4:
            pool[n] = value
        else:
            mixed = (np.uint64(0xCA01F9DD) * pool[into] - np.uint64(0x4973F715) * value) & LOW
            pool[into] = mixed ^ (mixed >> np.uint64(16))
    constant = np.uint64(0x8B51F9DD)
    for n in range(6):
        value = (pool[n % 4] ^ constant) & LOW
        constant = (constant * np.uint64(0x58F38DED)) & LOW
        value = (value * constant) & LOW
        value ^= value >> np.uint64(16)
        if n % 2 == 0:
            state[n // 2] = value
        else:
            state[n // 2] |= value << np.uint64(32)
    state[3] = np.uint64(1)
    a, b, c, count = state[0], state[1], state[2], state[3]
    for _ in range(12):
        _, a, b, c, count = following(a, b, c, count)
    state[0], state[1], state[2], state[3] = a, b, c, count


@exact_kernel
def following(
    a: np.uint64, b: np.uint64, c: np.uint64, count: np.uint64
) -> tuple[np.float64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """The next number in [0, 1), and the state after it: in variables, which stay in registers."""
    drawn = a + b + count
    number = np.int64(drawn >> ELEVEN) * UNIT
    return number, b ^ (b >> ELEVEN), c + (c << THREE), ((c << LEFT) | (c >> RIGHT)) + drawn, count + ONE


@exact_kernel
def fill(keys: Array, scale: float, shift: float, out: Array) -> None:
    """scale (shift u - (shift - 1)) of as many u as there is room for: out (seeds, names, numbers).

    A shift of 2 gives numbers in ±scale, one of 1 the u themselves.
    """
    state = np.empty(4, np.uint64)
    for n in range(out.shape[0]):
        for g in range(out.shape[1]):
            seeded(keys[n, g], state)
            a, b, c, count = state[0], state[1], state[2], state[3]
            for k in range(out.shape[2]):
                number, a, b, c, count = following(a, b, c, count)
                out[n, g, k] = scale * (shift * number - (shift - 1.0))


@exact_kernel
def sift(
    keys: Array, mask_keys: Array, bound: float, below: float, own: Array, places: Array, numbers: Array, values: Array
) -> int:
    """Of weights U (N, G, C, C, W) in ±bound: `own` (N, G, C, W), and lateral ones whose mask number is `below`.

    Of those the flat places in U, the mask numbers and the weights, in order; the return value is how many there are,
    which may be more than there was room for.
    """
    N, G, C, W = own.shape
    state = np.empty(4, np.uint64)
    found = place = 0
    for n in range(N):
        for g in range(G):
            seeded(keys[n, g], state)
            a, b, c, count = state[0], state[1], state[2], state[3]
            seeded(mask_keys[n, g], state)
            a_m, b_m, c_m, count_m = state[0], state[1], state[2], state[3]
            for i in range(C):
                for j in range(C):
                    for v in range(W):
                        weight, a, b, c, count = following(a, b, c, count)
                        number, a_m, b_m, c_m, count_m = following(a_m, b_m, c_m, count_m)
                        if i == j:
                            own[n, g, i, v] = bound * (2.0 * weight - 1.0)
                        elif number < below:
                            if found < places.size:
                                places[found], numbers[found] = place, number
                                values[found] = bound * (2.0 * weight - 1.0)
                            found += 1
                        place += 1
    return found
