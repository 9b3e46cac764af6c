"""Which sweeps have results, and what each is: by its file, or by the file's text that its last run kept."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError
from colrun.store.files import StrangeFileError, is_folder, read_json
from colrun.store.files import listed as names_in
from colrun.store.records import FACTS, RUN, checked
from colrun.sweep.file import NAME, Sweep, is_file, parse_sweep, read_content, read_sweep, sweep_names


def stored_sweeps(results: Path) -> list[str]:
    """Names of the folders that hold a sweep; such a folder may be a link that the user made."""
    if not results.is_dir():
        return []
    return sorted(p.name for p in results.iterdir() if NAME.fullmatch(p.name) and is_folder(p / "_runs"))


def stored_runs(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Provenance of a sweep's folder, the oldest run first; records that colrun cannot have written are left out."""
    for name in names_in(folder / "_runs"):
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


@dataclass(frozen=True)
class Described:
    """A sweep's file as it stands, and what its runs made of it."""

    content: dict[str, Any]
    source: str
    text: str
    own: dict[str, Any]
    """Options that are part of what the sweep is: those of its last run, where the file is gone or has another name."""
    options: list[dict[str, Any]] = field(default_factory=list)
    """Those of runs of the file as it stands, each once."""

    def parsed(self, values: Mapping[str, Any]) -> Sweep:
        return parse_sweep(self.content, self.source, self.text, {**self.own, **values})


def describe(results: Path, name: str) -> Described:
    """By the file that is given, by that of the last run, by the one of its name in `sweeps/`, or as the run had it."""
    if name.endswith(".toml") and is_file(Path(name)):
        content, text = read_content(Path(name))
        stored = str(content["name"])
        runs = list(_runs(results, stored)) if NAME.fullmatch(stored) else []
        return Described(content, name, text, {}, _options(runs, text))
    runs = list(_runs(results, name)) if name in stored_sweeps(results) else []
    if not runs:
        raise InvalidValueError(f"{results / name} has no readable run; give the sweep's file instead of its name.")
    last = runs[0]
    options = {key: value for key, value in last["options"].items() if key != "seeds"} | {"name": name}
    recorded = tomllib.loads(last["sweep_file"]).get("name")
    for path, called in _files(last, name, recorded):
        content, text = read_content(path)
        if content["name"] == (called or path.stem):
            own = {} if content["name"] == name else options
            return Described(content, str(path), text, own, _options(runs, text))
    text = last["sweep_file"]
    return Described(tomllib.loads(text), f"{last['file']} (sweep_file)", text, options, _options(runs, text))


def _files(run: Mapping[str, Any], name: str, recorded: str | None) -> Iterator[tuple[Path, str | None]]:
    """Where a sweep may stand as it is now, and what it must be called there.

    Results may be a stranger's: the file that they name is opened in the working folder alone, or where it is one of
    those that colrun knows by name.
    """
    listed, own = sweep_names().get(name), Path(str(run.get("sweep_path", "")))
    if is_file(own):
        if own == listed or own.resolve().is_relative_to(Path.cwd()):
            yield own, recorded
    elif listed is not None:
        yield listed, name


def stored_sweep(results: Path, name: str, values: Mapping[str, Any]) -> Sweep:
    """A sweep by file or name; one that is no file any more, as its last run had it, but for a choice of seeds."""
    if name not in stored_sweeps(results):
        return read_sweep(name, values)
    return describe(results, name).parsed(values)


def _runs(results: Path, name: str) -> Iterator[dict[str, Any]]:
    """What is known of runs, the last one first."""
    for path, facts in reversed(list(stored_runs(results / name))):
        try:
            tomllib.loads(facts["sweep_file"])
            yield facts | {"options": facts.get("options", {}), "file": str(path)}
        except (ValueError, KeyError, RecursionError):
            continue


def _options(runs: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    found = {}
    for facts in runs:
        if facts["sweep_file"] == text and facts["options"]:
            options = {key: value for key, value in facts["options"].items() if key != "name"}
            found[json.dumps(options, sort_keys=True)] = options
    return list(found.values())
