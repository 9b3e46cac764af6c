"""Whether the two forms of a plug-in's estimator agree, on which networks, and how fast each is."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from colrun import api
from colrun.errors import InvalidValueError
from colrun.estimators import get_fast, get_online, parse_estimator, why_undefined
from colrun.estimators.online_alone import OnlineAlone
from colrun.networks.cells import CELLS
from colrun.networks.readings import READINGS
from colrun.testbed import sequence

AGREE = 1e-8
"""Relative difference, in float64, beyond which forms do not compute the same."""
WINDOWS = (1, 5)
"""Tried where a name takes a number."""
STEP_SIZES = (None, 0.02)
SMALL = {"columns": 4, "width": 3, "lateral": "40%", "inputs": 5}
USUAL = {"columns": 20, "width": 50, "lateral": "10%", "inputs": 50}


@dataclass(frozen=True)
class Finding:
    """One line of what was found."""

    text: str
    bad: bool = False


def check(family: str, windowed: bool) -> Iterator[Finding]:
    """All cells and readings, with a fixed and a learning w; then the time of each form."""
    names = [f"{family}-{window}" for window in WINDOWS] if windowed else [family]
    fast, online = _forms(names[0])
    alone = not fast or not online
    if alone:
        yield Finding(f"has no {'online' if fast else 'fast'} form: there is nothing to compare, so each is run once")
    good = []
    for cell in CELLS:
        reason = why_undefined(family, cell)
        if reason is not None:
            yield Finding(f"{cell}: not defined: {reason.partition(': ')[2]}")
            continue
        finding = _compared(cell, names, alone)
        good += [] if finding.bad else [cell]
        yield finding
    if good:
        yield Finding(f"time on {good[0]}, C = 20, W = 50, T = 50: {_times(names[-1], good[0], fast, online)}")


def _forms(name: str) -> tuple[bool, bool]:
    """Whether there is a fast form, and an online one."""
    parsed = parse_estimator(name)
    form = get_fast(parsed.family)
    try:
        get_online(parsed)
    except InvalidValueError as error:
        if "has no online form" not in str(error):
            raise
        return True, False
    return not isinstance(form, OnlineAlone), True


def _compared(cell: str, names: list[str], alone: bool) -> Finding:
    worst, where = 0.0, ""
    for reading in READINGS:
        network = api.network(2, cell, reading=reading, **SMALL)  # type: ignore[arg-type]
        shown = sequence(2, 9, 5)
        for name in names:
            for step_size in STEP_SIZES:
                what = f"{name}, reading {reading}" + (f", step size {step_size:g}" if step_size else "")
                try:
                    found = api.gradients(network, shown, name, step_size)
                    other = found if alone else api.gradients(network, shown, name, step_size, "online")
                except InvalidValueError as error:
                    return Finding(f"{cell}: {what}: {error}", bad=True)
                for key, value in found.items():
                    size = float(other[key].abs().max()) or 1.0
                    difference = float((value - other[key]).abs().max()) / size
                    if not difference <= worst:
                        worst, where = difference, f"{key} of {what}"
    if not worst <= AGREE:
        return Finding(f"{cell}: forms differ by {worst:.1e} in {where}", bad=True)
    return Finding(f"{cell}: " + ("runs" if alone else f"forms agree ({worst:.0e})"))


def _times(name: str, cell: str, fast: bool, online: bool) -> str:
    network, shown = api.network(0, cell, **USUAL), sequence(0, 50)  # type: ignore[arg-type]
    said = []
    for form, there in (("credit", fast), ("online", online)):
        if there:
            api.gradients(network, shown, name, form=form)  # compiles, where that is to be done
            began = time.process_time()
            api.gradients(network, shown, name, form=form)
            said.append(f"{'fast' if form == 'credit' else form} form {time.process_time() - began:.3f} s of CPU")
    return ", ".join(said)
