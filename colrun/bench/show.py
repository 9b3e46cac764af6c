"""A benchmark as lines of text."""

from collections.abc import Iterator
from typing import Any


def lines(found: dict[str, Any]) -> Iterator[str]:
    """For a person."""
    shape = found["shape"]
    yield f"{found['cpu']}, one core, torch {found['torch']}, colrun {found['colrun']}"
    yield (
        f"{shape['cell']}, C={shape['columns']}, W={shape['width']}, lateral {100 * shape['lateral']:g} %, "
        f"reading {shape['reading']}, T={shape['steps']}, {shape['dtype']}: {', '.join(shape['estimators'])}"
    )
    yield ""
    taken, rate = found["engine_seconds_per_network"], found["networks_per_second"]
    yield f"engine       {_time(taken)} per network from drawing on, {rate:.0f} a second"
    for which in ("vectorised", "plain"):
        if f"{which}_ratio" in found:
            taken, ratio = found[f"{which}_seconds_per_network"], found[f"{which}_ratio"]
            yield f"{which:12} {_time(taken)} per network: the engine is {ratio:,.0f} times as fast"
    yield (
        f"peak         {found['peak_operations_per_second'] / 1e9:.0f} GFLOP/s; the engine reaches "
        f"{found['share_of_peak']:.1%} of it ({found['operations_per_network'] / 1e6:.0f} MFLOP per network)"
    )
    yield f"first batch  {found['first_batch_seconds']:.2f} s, compiling or loading the kernels included"
    yield f"memory       {found['peak_memory_bytes'] / 1e6:.0f} MB at most"
    yield ""
    yield "time per network by stage:"
    total = sum(found["stages_seconds_per_network"].values())
    for name, seconds in found["stages_seconds_per_network"].items():
        yield f"  {name:24} {_time(seconds):>10}  {seconds / total:4.0%}"
    if "growth" in found:
        yield ""
        yield "cost grows with:"
        for name, points in found["growth"].items():
            sizes = ", ".join(f"{size:,.0f}" for size in points["sizes"])
            yield f"  {name:15} to the power {points['exponent']:5.2f}  (measured at {sizes})"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
