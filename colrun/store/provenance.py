"""Where numbers come from: stored once per run, named by every part of it."""

import hashlib
import importlib.metadata
import os
import platform
import secrets
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from colrun import __version__
from colrun.estimators import is_plugin, known_estimators, parse_estimator
from colrun.store.paths import Paths, write_json
from colrun.sweep.file import Sweep

PACKAGES = ("torch", "numpy", "scipy", "numba", "pandas", "pyarrow", "joblib", "click")


def cpu_model() -> str:
    """The processor's own name, as bits may differ between types."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> dict[str, Any]:
    """The commit that colrun runs from and whether the checkout was clean; nulls outside a checkout."""
    root = Path(__file__).parents[2]

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    if not (root / ".git").exists():
        return {"commit": None, "clean": None}
    changed = git("status", "--porcelain", "--", "colrun", "pyproject.toml", "constraints.txt")
    return {"commit": git("rev-parse", "HEAD"), "clean": None if changed is None else changed == ""}


VARIABLES = ("OPENBLAS_CORETYPE", "MKL_CBWR", "ATEN_CPU_CAPABILITY", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
"""That choose which instructions libraries use, and with them the last digits."""


def bits() -> dict[str, Any]:
    """What decides the last digits of numbers: the processor and its features, the BLAS, and what overrides them."""
    return {"cpu": cpu_model(), "features": _features(), "blas": _blas(), "variables": overriding()}


def overriding() -> dict[str, str]:
    return {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}


def _features() -> str:
    """A hash of all that the processor says it can do, as a virtual machine or a container may hide some."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    flags = next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), [])
    return hashlib.blake2b(" ".join(sorted(flags)).encode(), digest_size=8).hexdigest()


def _blas() -> str:
    return " ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy"))


def said_of(facts: dict[str, Any]) -> str:
    """The bits of a run in words; empty for one that did not keep them."""
    kept = facts.get("bits")
    if not isinstance(kept, dict):
        return ""
    others = ", ".join(f"{key}={value}" for key, value in sorted(kept.get("variables", {}).items()))
    return f"{kept.get('cpu')} [{kept.get('features')}], {kept.get('blas')}" + (f", {others}" if others else "")


def machine() -> dict[str, Any]:
    """This one, and what is installed on it."""
    return {
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "host": socket.gethostname(),
        "system": platform.platform(),
    }


def plugins(sweep: Sweep) -> dict[str, str]:
    """Of the sweep's estimators those that are not colrun's own: key → file or package."""
    names = [parse_estimator(key) for key in sweep.keys if is_plugin(key)]
    return {name.key: known_estimators()[name.family].module for name in names}


class Run:
    """One run of a sweep; `workers` are machines other than this one that take part from its start."""

    def __init__(self, paths: Paths, sweep: Sweep, workers: Sequence[dict[str, Any]] = ()) -> None:
        self.paths = paths
        started = time.time()
        self.id = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(started)) + "-" + secrets.token_hex(3)
        self.facts: dict[str, Any] = {
            "run": self.id,
            "started": _iso(started),
            "finished": None,
            "colrun": __version__,
            **commit(),
            **machine(),
            "bits": bits(),
            "workers": workers,
            "command": shlex.join(["colrun", *sys.argv[1:]]),
            "experiment": sweep.experiment.name,
            "numerics": sweep.experiment.numerics,
            "sweep_file": sweep.text,
            "sweep_path": str(Path(sweep.source).absolute()),
            "options": dict(sweep.replaced),
            "plugins": plugins(sweep),
        }
        self._write()

    def finish(self, **facts: Any) -> None:
        """Add how it ended."""
        self.facts |= {"finished": _iso(time.time()), **facts}
        self._write()

    def _write(self) -> None:
        write_json(self.paths, self.paths.runs / f"{self.id}.json", self.facts)


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
