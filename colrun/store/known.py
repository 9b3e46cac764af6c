"""Which sweeps have results, and what each was: by its file, or by the file's text that its last run kept."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError
from colrun.store.files import StrangeFileError, is_folder, listed, read_json
from colrun.store.records import FACTS, RUN, checked
from colrun.sweep.file import NAME, Sweep, is_file, parse_sweep, read_sweep, sweep_names


def stored_sweeps(results: Path) -> list[str]:
    """Names of the folders that hold a sweep; such a folder may be a link that the user made."""
    if not results.is_dir():
        return []
    return sorted(p.name for p in results.iterdir() if NAME.fullmatch(p.name) and is_folder(p / "_runs"))


def stored_runs(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Provenance of a sweep's folder, the oldest run first; records that colrun cannot have written are left out."""
    for name in listed(folder / "_runs"):
        path = folder / "_runs" / name
        if RUN.fullmatch(name):
            try:
                facts = read_json(path)
                checked(facts, FACTS, optional=tuple(FACTS))
            except (OSError, StrangeFileError):
                continue
            yield path, facts


def stored_name(results: Path, name: str) -> str:
    """The name of a sweep whose results are wanted, given as such or by its file."""
    return name if name in stored_sweeps(results) else read_sweep(name).name


def stored_sweep(results: Path, name: str, values: Mapping[str, Any]) -> Sweep:
    """A sweep by file or name; one that is no file any more, as its last run had it, but for a choice of seeds."""
    known = name in stored_sweeps(results)
    if not known or name in sweep_names() or (name.endswith(".toml") and is_file(Path(name))):
        return read_sweep(name, values)
    for path, facts in reversed(list(stored_runs(results / name))):
        try:
            text, options = facts["sweep_file"], facts.get("options", {})
            content = tomllib.loads(text)
            own = {key: value for key, value in options.items() if key != "seeds"} | {"name": name}
            stored = parse_sweep(content, f"{path} (sweep_file)", text, own)
        except (ValueError, KeyError, RecursionError):
            continue
        return parse_sweep(content, stored.source, text, {**own, **values}) if values else stored
    raise InvalidValueError(f"{results / name} has no readable run; give the sweep's file instead of its name.")
