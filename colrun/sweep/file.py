"""Sweep files: TOML, typed and validated. Whatever is wrong is said with the file, the key and what would be right."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from colrun.errors import InvalidValueError, choose, shown
from colrun.estimators import parse_estimator
from colrun.experiments import Experiment, get_experiment
from colrun.experiments.axes import Axis, Value
from colrun.experiments.declare import Values
from colrun.sweep.seeds import MOST, Seeds

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PLAIN_KEYS = ("name", "experiment", "description")
LARGEST_FILE = 10_000_000


@dataclass(frozen=True)
class Grid:
    """Every axis with its values, validated."""

    values: Values
    estimators: tuple[str, ...]
    seeds: Seeds


@dataclass(frozen=True)
class Sweep:
    """A sweep file, validated."""

    name: str
    experiment: Experiment[Any]
    description: str
    grids: tuple[Grid, ...]
    source: str
    """Where it came from, for messages."""
    text: str
    """The file as it stands, for provenance."""
    replaced: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Values from the command line that took the place of the file's."""
    notes: tuple[str, ...] = ()
    """What a user should know of values that are often meant otherwise."""

    @property
    def keys(self) -> list[str]:
        """Of all its estimators: names and, for plug-ins, their sources."""
        return list(dict.fromkeys(key for grid in self.grids for key in grid.estimators))


def find_sweep(name: str) -> Path:
    """The file that a user means: a path, or the name of one in `sweeps/` here or beside the package."""
    given = Path(name)
    if is_file(given):
        return given
    if "\0" in name or given.suffix == ".toml" or "/" in name:
        raise InvalidValueError(
            f"there is no sweep file {shown(name)}; give a path to a TOML file or one of: {_known()}."
        )
    for folder in sweep_folders():
        if is_file(folder / f"{name}.toml"):
            return folder / f"{name}.toml"
    choose(name, list(sweep_names()) or ["(none found)"], "sweep")
    raise AssertionError


def is_file(path: Path) -> bool:
    """Whether there is one; a name that the system cannot even look up (too long) is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def brought(name: str, checkout: str) -> Path:
    """What a wheel brings beside its modules, or the same at the top of the checkout that colrun runs from."""
    installed = Path(__file__).parents[1] / "data" / name
    return installed if installed.is_dir() else Path(__file__).parents[2] / checkout


def sweep_folders() -> list[Path]:
    """`sweeps/` in the working folder, then what colrun brings."""
    return [folder for folder in (Path("sweeps"), brought("sweeps", "sweeps")) if folder.is_dir()]


def sweep_names() -> dict[str, Path]:
    """Every named sweep and its file."""
    found: dict[str, Path] = {}
    for folder in sweep_folders():
        for path in sorted(folder.glob("*.toml")):
            found.setdefault(path.stem, path)
    return found


def _known() -> str:
    return ", ".join(sweep_names()) or "(none found)"


def read_sweep(name: str, replaced: Mapping[str, Any] | None = None) -> Sweep:
    """Read and check a sweep; `replaced` are values from the command line, which replace the file's."""
    path = find_sweep(name)
    content, text = read_content(path)
    return parse_sweep(content, str(path), text, replaced or {})


def read_content(path: Path) -> tuple[dict[str, Any], str]:
    """What a file says, unchecked, and its text; a sweep without a name has that of its file."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InvalidValueError(
                f"{path}: is larger than {LARGEST_FILE // 1_000_000} MB; a sweep file is a short TOML file."
            )
        text = path.read_bytes().decode("utf-8-sig")
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{path}: is not UTF-8 text ({error.reason} at byte {error.start}).") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidValueError(f"{path}: is not valid TOML: {error}.") from None
    except (OSError, RecursionError, ValueError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(f"{path}: cannot be read: {error}.") from None
    return {"name": path.stem, **content}, text


def parse_sweep(content: dict[str, Any], source: str, text: str, replaced: Mapping[str, Any]) -> Sweep:
    """Check what a TOML file says; all that is wrong with it is said at once."""
    top = {**content, **replaced}
    tables = top.pop("grid", {})
    mistakes = Mistakes()
    name = experiment = None
    description, grids, notes = "", list[Grid](), dict[str, None]()
    with mistakes:
        name = check_name(_plain(top, "name"))
    with mistakes:
        description = _plain(top, "description", "")
    with mistakes:
        experiment = get_experiment(_plain(top, "experiment", "alignment"))
        if not isinstance(tables, (dict, list)) or not all(isinstance(each, dict) for each in _as_list(tables)):
            raise InvalidValueError("grid must be a table [grid] or several tables [[grid]].")
        if not _as_list(tables):
            raise InvalidValueError("grid is empty; give at least one table [[grid]], or leave it out.")
        for number, table in enumerate(_as_list(tables), start=1):
            mistakes.where = f"grid {number}: " if len(_as_list(tables)) > 1 else ""
            for key in PLAIN_KEYS:
                with mistakes:
                    if key in table:
                        raise InvalidValueError(f"{key} belongs at the top of the file, not in a grid.")
            given = {key: value for key, value in {**top, **table, **replaced}.items() if key not in PLAIN_KEYS}
            grids += _grid(experiment, given, replaced, mistakes)
            notes |= dict.fromkeys(_notes(experiment, given))
    if mistakes.found or name is None or experiment is None:
        raise InvalidValueError("\n".join(f"{source}: {mistake}" for mistake in mistakes.found))
    return Sweep(name, experiment, description, tuple(grids), source, text, dict(replaced), tuple(notes))


class Mistakes:
    """Collects what is wrong, each once: a block that raises is left, and what follows is looked at all the same."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.where = ""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, InvalidValueError) and f"{error}" not in " ".join(self.found):
            self.found.append(f"{self.where}{error}")
        return isinstance(error, InvalidValueError)


def check_name(name: str) -> str:
    """A name that is one folder below the results, whatever the shell or the filesystem."""
    if not NAME.fullmatch(name) or ".." in name:
        raise InvalidValueError(
            f"name {shown(name)} must start with a letter or digit and hold only letters, digits, '.', '_' and '-' "
            "(no '..', at most 100 of them), such as \"rnn-alignment\"."
        )
    return name


def _plain(top: dict[str, Any], key: str, default: str | None = None) -> str:
    value = top.get(key, default)
    if value is None:
        raise InvalidValueError(f'{key} is missing; the file needs a line such as {key} = "my-sweep".')
    if not isinstance(value, str):
        raise InvalidValueError(f'{key} is {shown(value)}; it must be a string such as "my-sweep".')
    return value


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _grid(
    experiment: Experiment[Any], given: dict[str, Any], replaced: Mapping[str, Any], mistakes: Mistakes
) -> Iterator[Grid]:
    """One, unless something is wrong with it."""
    axes = {axis.name: axis for axis in experiment.axes}
    lists = ["seeds", *(["estimators"] if experiment.takes_estimators else [])]
    for key in given:
        with mistakes:
            choose(key, [*axes, *lists], f"key of experiment {experiment.name}:")
    values: Values = {}
    for name, axis in axes.items():
        with mistakes:
            values[name] = _values(axis, given, name in replaced)
    seeds = estimators = None
    with mistakes:
        seeds = _seeds(given)
    with mistakes:
        estimators = _estimators(given) if experiment.takes_estimators else ()
    if seeds is not None and estimators is not None and len(values) == len(axes):
        yield Grid(values, estimators, seeds)


def _values(axis: Axis, given: dict[str, Any], typed_in: bool) -> list[Value]:
    """Of an axis; `typed_in` are those of the command line, where all is text."""
    if axis.name not in given:
        return [axis.default]
    wanted = _as_list(given[axis.name])
    if not wanted:
        raise InvalidValueError(f"{axis.name} is an empty list; give at least one value, or leave the key out.")
    found = list(dict.fromkeys(axis.parse(value) for value in wanted))
    text = next((value for value in wanted if isinstance(value, str) and NUMBER.fullmatch(value)), None)
    if text is not None and not typed_in and not axis.choices and axis.note is None:
        raise InvalidValueError(f'{axis.name} is "{text}", which is text; write the number without quotes: {text}.')
    return found


def _seeds(given: dict[str, Any]) -> Seeds:
    if "seeds" not in given:
        raise InvalidValueError('seeds is missing; give a half-open range such as seeds = "0:100".')
    value = given["seeds"]
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST:
        raise InvalidValueError(
            f'seeds is {value}, which could be one seed or that many; write "0:{value}" for {value} networks, or '
            f"[{value}] for that seed alone."
        )
    return Seeds.parse(value)


def _estimators(given: dict[str, Any]) -> tuple[str, ...]:
    names = _as_list(given.get("estimators", []))
    if not names:
        raise InvalidValueError('estimators is missing or empty; give a list such as ["master-user", "tbptt-40"].')
    if not all(isinstance(name, str) for name in names):
        raise InvalidValueError(f'estimators is {shown(names)}; it must be a list of names such as ["master-user"].')
    return tuple(dict.fromkeys(parse_estimator(name).key for name in names))


def _notes(experiment: Experiment[Any], given: dict[str, Any]) -> Iterator[str]:
    """What values mean that are often meant otherwise."""
    for axis in experiment.axes:
        if axis.note is not None:
            yield from filter(None, map(axis.note, _as_list(given.get(axis.name, []))))
