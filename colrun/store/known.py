"""Which sweeps have results, and what each was: by its file, or by the file's text that its last run kept."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError
from colrun.store.paths import Paths
from colrun.sweep.file import NAME, Sweep, is_file, parse_sweep, read_sweep, sweep_names


def stored_sweeps(results: Path) -> list[str]:
    """Names of the folders that hold a sweep."""
    if not results.is_dir():
        return []
    return sorted(p.name for p in results.iterdir() if NAME.fullmatch(p.name) and (p / "_runs").is_dir())


def stored_sweep(results: Path, name: str, values: Mapping[str, Any]) -> Sweep:
    """A sweep by file or name; one that is no file any more, as its last run had it."""
    if is_file(Path(name)) or name in sweep_names() or name not in stored_sweeps(results):
        return read_sweep(name, values)
    runs = sorted((Paths.of(results, name).runs).glob("*.json"))
    for path in reversed(runs):
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            text = facts["sweep_file"]
            return parse_sweep(tomllib.loads(text), f"{path} (sweep_file)", text, {"name": name, **values})
        except (OSError, ValueError, KeyError, TypeError):
            continue
    raise InvalidValueError(f"{results / name} has no readable run; give the sweep's file instead of its name.")
