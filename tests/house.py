"""How the packages hang together: who imports whom, and through which of them one job goes.

python -m tests.house graph      every import, also those inside functions, under TYPE_CHECKING, and modules named
                                 in strings, as registries do; with the layers, lowest first
python -m tests.house walk       one small sweep, from the sweep file to its rows: which package calls which
python -m tests.house size       statements of product code, docstrings not counted
"""

import ast
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
CODE = Path(os.environ.get("COLRUN_CODE", ROOT)) / "colrun"
"""Of another checkout, to compare with."""

LAYERS = (
    ("errors",),
    ("output", "streams", "compiling", "quality"),
    ("sfc64",),
    ("tasks",),
    ("networks",),
    ("engine", "lanes"),
    ("testbed",),
    ("readout",),
    ("estimators",),
    ("api", "learning"),
    ("drawing", "verdicts"),
    ("experiments",),
    ("sweep",),
    ("store",),
    ("run",),
    ("figures", "claims"),
    ("report", "bench", "summary", "checks"),
    ("cli",),
)
"""Lowest first: a package imports from those before it, and not from those beside or after it."""
ONE = """name = "one"
estimators = ["master-user", "tbptt-3"]
seeds = "0:1"
columns = 3
width = 2
lateral = "50%"
"""
OUTSIDE = ("", "__main__")
"""The package itself, which only names what users import, and its start."""


def package_of(module: str) -> str:
    """The first name below `colrun`."""
    return module.partition(".")[2].partition(".")[0]


def modules() -> dict[str, Path]:
    """Every module of the product."""
    found = {}
    for path in sorted(CODE.rglob("*.py")):
        parts = path.relative_to(CODE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """Modules of colrun that a file names, in imports or in strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "colrun")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "colrun":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = re.match(r"colrun\.([a-z_]+)(\.[A-Za-z_.]*)?$", node.value)  # also the beginning of an f-string
            if match and any(name == f"colrun.{match[1]}" or name.startswith(f"colrun.{match[1]}.") for name in known):
                yield node.value.rstrip(".")


def edges() -> dict[tuple[str, str], list[str]]:
    """Package → package, with the modules behind it."""
    known = modules()
    found: dict[tuple[str, str], list[str]] = {}
    for name, path in known.items():
        for other in imported(ast.parse(path.read_text(encoding="utf-8")), set(known)):
            pair = package_of(name), package_of(other)
            if pair[0] != pair[1]:
                found.setdefault(pair, []).append(f"{name} → {other}")
    return found


def upward() -> list[str]:
    """Imports of a package from one that does not stand below it."""
    level = {package: number for number, layer in enumerate(LAYERS) for package in layer}
    found = []
    for (one, other), behind in edges().items():
        if one in OUTSIDE or other == "":
            continue
        if one not in level or other not in level or level[other] >= level[one]:
            found += behind
    return sorted(set(found))


@dataclass
class Call:
    """A package as it was entered from another, and what it entered in turn."""

    package: str
    inside: dict[str, "Call"] = field(default_factory=dict)

    def lines(self, depth: int = 0, above: tuple[str, ...] = ()) -> Iterator[str]:
        again = "   (entered again)" if self.package in above else ""
        yield "  " * depth + self.package + again
        for call in self.inside.values():
            yield from call.lines(depth + 1, (*above, self.package))


def walk(quiet: tuple[str, ...] = LAYERS[0] + LAYERS[1] + LAYERS[2]) -> Call:
    """The calls between packages while one job goes from its sweep file to its rows, without the two lowest layers."""
    from colrun.cli import main

    top = Call("start")
    stack: list[tuple[FrameType, Call]] = []
    prefix = str(CODE) + os.sep

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            if not frame.f_code.co_filename.startswith(prefix):
                return
            package = package_of(str(frame.f_globals.get("__name__", "")))
            above = stack[-1][1] if stack else top
            if package in quiet or package == "" or frame.f_code.co_name in ("<module>", "<genexpr>", "<lambda>"):
                return
            if package != above.package:
                above = above.inside.setdefault(package, Call(package))
            stack.append((frame, above))
        elif event == "return" and stack and stack[-1][0] is frame:
            stack.pop()

    with tempfile.TemporaryDirectory() as folder:
        sweep = Path(folder, "one.toml")
        sweep.write_text(ONE)
        arguments = ["sweep", str(sweep), "-j", "1", "--quiet", "--out", folder]
        main(arguments, standalone_mode=False)  # once before: imports and compiling are no part of the walk
        sweep.write_text(sweep.read_text().replace("0:1", "1:2"))
        sys.setprofile(watch)
        try:
            main(arguments, standalone_mode=False)
        finally:
            sys.setprofile(None)
    return top


def again(call: Call, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Ways by which a package is entered while it is at work."""
    for inner in call.inside.values():
        path = (*above, call.package)
        if inner.package in path:
            yield " → ".join([*path, inner.package])
        yield from again(inner, path)


def statements() -> int:
    """Of all product code, docstrings and other bare strings not counted."""
    total = 0
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            bare = (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            )
            total += isinstance(node, ast.stmt) and not bare
    return total


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    if wanted == "graph":
        found = edges()
        for layer in LAYERS:
            for package in layer:
                print(f"{package:12} → {' '.join(sorted({other for one, other in found if one == package and other}))}")
        for line in upward():
            print(f"upward: {line}")
    elif wanted == "walk":
        print("\n".join(walk().lines()))
    elif wanted == "size":
        print(f"{statements()} statements in {len(modules())} files")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
