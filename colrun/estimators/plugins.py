"""Plug-ins: estimators that are not part of colrun, whose names and source hashes are found without importing them.

A plug-in is a Python file given with `--plugin`, or a module that an installed package names under the entry point
`colrun.estimators`. It holds a table `ESTIMATORS = {"name": estimator, …}`; a name that ends in `-k` takes a number.
It is code that runs as you.
"""

import ast
import hashlib
import importlib.metadata
import importlib.util
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from colrun.errors import InvalidValueError, shown

GROUP = "colrun.estimators"
NAME = re.compile(r"\w[\w.+-]{0,99}")
KEY = re.compile(rf"{NAME.pattern}(?:@(?:v[0-9]{{1,9}}|[0-9a-f]{{1,64}}))?")
"""Of an estimator with its window, and of what tells its results from those of another form of it."""
API = 2
"""Of what plug-ins build on: `engine/forms.py` and `estimators/online.py`. A plug-in says with `API = 2` which one it
was written for. 1 is that of version 0.1, made of tensors."""


class PluginError(InvalidValueError):
    """What a plug-in did wrong; says which one."""


@dataclass(frozen=True)
class Plugin:
    """One estimator of a plug-in."""

    name: str
    """As users write it, without the number."""
    windowed: bool
    summary: str
    where: str
    """The file or the package, for messages."""
    file: Path | None = None
    entry: importlib.metadata.EntryPoint | None = None
    api: int | None = None
    """The version of the API that it says it was written for."""

    @property
    def key(self) -> str:
        """As the table has it."""
        return f"{self.name}-k" if self.windowed else self.name

    @cached_property
    def source(self) -> str:
        """Part of the identity of its rows: the hash of its file, or of all Python files of its package."""
        if self.file is not None:
            return _hashed([("", _read(self.file))])
        assert self.entry is not None
        return _hashed(_package(self.entry, self.where))

    def load(self) -> object:
        """The estimator itself, or its online form where there is no other: here the plug-in is imported."""
        table = self._import(lambda: _table(_module(self.file)) if self.file is not None else self.entry.load())  # type: ignore[union-attr]
        if not isinstance(table, dict) or self.key not in table:
            raise PluginError(f'{self.where} must have a table ESTIMATORS = {{"{self.key}": …}} with that name in it.')
        found: object = table[self.key]
        return found

    def load_online(self) -> Any:
        """Its entry in the table `ONLINE` of the same module; None where there is none."""
        module = self._import(
            lambda: _module(self.file) if self.file is not None else importlib.import_module(self.entry.module)  # type: ignore[union-attr]
        )
        table = getattr(module, "ONLINE", None)
        return table.get(self.key) if isinstance(table, dict) else None

    def _import(self, imported: Callable[[], Any]) -> Any:
        try:
            return imported()
        except (Exception, SystemExit) as error:  # it is someone else's code: anything can happen
            raise PluginError(f"{self.where} cannot be imported: {type(error).__name__}: {error}.") from error


_given: dict[str, Plugin] = {}


def _table(module: Any) -> dict[str, Any]:
    found: dict[str, Any] = {**getattr(module, "ONLINE", {}), **getattr(module, "ESTIMATORS", {})}
    return found


def given() -> list[Plugin]:
    """Those of the files in use."""
    return list(_given.values())


def use_files(files: Iterable[Path], builtin: Iterable[str]) -> None:
    """Make the estimators of these files known, and of no others."""
    found: dict[str, Plugin] = {}
    for file in files:
        for plugin in _of_file(file.absolute()):
            if plugin.name in found or plugin.name in builtin:
                other = found[plugin.name].where if plugin.name in found else "colrun itself"
                raise PluginError(
                    f"{plugin.where} defines {shown(plugin.name)}, which {other} has; rename one of them."
                )
            found[plugin.name] = plugin
    _given.clear()
    _given.update(found)


def files_in_use() -> tuple[str, ...]:
    """The files that `use_files` was given, for workers and scripts."""
    return tuple(dict.fromkeys(str(plugin.file) for plugin in _given.values()))


def known_plugins(builtin: Iterable[str]) -> dict[str, Plugin]:
    """By name; a file stands before an installed package."""
    return {**{name: plugin for name, plugin in _installed().items() if name not in builtin}, **_given}


@cache
def _installed() -> dict[str, Plugin]:
    found: dict[str, Plugin] = {}
    for entry in importlib.metadata.entry_points(group=GROUP):
        package = entry.dist.name if entry.dist is not None else entry.value
        name, windowed = _split(entry.name)
        if name in found:
            warnings.warn(
                f"plug-in {package} defines {name}, which {found[name].where} has; it is ignored.", stacklevel=2
            )
            continue
        about = entry.dist.metadata["Summary"] if entry.dist is not None else None
        found[name] = Plugin(name, windowed, about or f"by package {package}", f"plug-in {package}", entry=entry)
    return found


def _split(key: str) -> tuple[str, bool]:
    return key.removesuffix("-k"), key.endswith("-k")


def _of_file(file: Path) -> list[Plugin]:
    """What a file offers, from its text alone."""
    where = f"plug-in {file}"
    try:
        tree = ast.parse(_read(file))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise PluginError(f"{where} is not valid Python: {error}.") from None
    summary = (ast.get_docstring(tree) or f"from {file.name}").splitlines()[0]
    written = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    api = getattr(written.get("API"), "value", None)
    if api is not None and api not in range(1, API + 1):
        raise PluginError(f"{where} was written for API {shown(api)}; this colrun has {API}, so a newer one is needed.")
    tables = [value for name in ("ESTIMATORS", "ONLINE") if isinstance(value := written.get(name), ast.Dict)]
    keys: list[Any] = list(dict.fromkeys(getattr(key, "value", None) for table in tables for key in table.keys))
    if keys and all(isinstance(key, str) and NAME.fullmatch(key) for key in keys):
        return [Plugin(*_split(key), summary, where, file=file, api=api) for key in keys]
    raise PluginError(
        f'{where} must have a table of its estimators, written out: ESTIMATORS = {{"my-name": MyEstimator()}}.'
    )


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise PluginError(f"plug-in {file} cannot be read: {error.strerror}.") from None


def _hashed(files: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, content in files:
        digest.update(f"{name}:{len(content)};".encode() + content)
    return digest.hexdigest()


def _package(entry: importlib.metadata.EntryPoint, where: str) -> list[tuple[str, bytes]]:
    """Every Python file of the top-level package or module, found without importing it."""
    top = entry.module.partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        raise PluginError(f"{where} names module {top}, which cannot be found; install the package again.")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = [(str(file.relative_to(folder)), file) for folder in folders for file in sorted(folder.rglob("*.py"))]
    if not files and spec.origin:
        files = [("", Path(spec.origin))]
    return [(name, _read(file)) for name, file in files]


def _module(file: Path) -> Any:
    """The file as a module, once per content: what runs is what was hashed, and nothing is written beside it."""
    content = _read(file)
    name = f"colrun_plugin_{_hashed([('', content)])}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(file)
        sys.modules[name] = module  # dataclasses and the like look their module up
        try:
            exec(compile(content, str(file), "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
