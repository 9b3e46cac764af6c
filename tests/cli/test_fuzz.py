"""Sweep files and command lines that nobody would write: an answer with exit code 0 or 2, and no file on refusal."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colrun.cli import COMMANDS
from colrun.experiments import all_axes
from tests.runs import ROOT, TINY, colrun, files, toml

REAL = [path.read_text() for path in sorted((ROOT / "sweeps").glob("*.toml"))]
KEYS = ["name", "experiment", "estimators", "seeds", "description", "grid", *all_axes()]
strict = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def folder() -> Iterator[Path]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def answered(*arguments: object) -> int:
    """The exit code; everything but 0 and 2 is a failure, and so is an exception, which `colrun` raises."""
    before = files(Path())
    result = colrun(*arguments)
    assert result.exit_code in (0, 2), (arguments, result.output)
    assert "Traceback" not in result.output
    if result.exit_code == 2:
        assert files(Path()) == before
        assert "rror: " in result.stderr
    return result.exit_code


values = st.recursive(
    st.one_of(
        st.integers(),
        st.integers(-(10**30), 10**30),
        st.floats(),
        st.booleans(),
        st.text(max_size=8),
        st.sampled_from(
            ["0:3", "text", "dense", "10%", "master-user", "tbptt-3", "gru", "none", "decay", "1e999%", "-0%"]
        ),
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


def as_toml(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)  # inf and nan are TOML too
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


@strict
@given(
    st.dictionaries(st.sampled_from(KEYS) | st.from_regex(r"[a-z_]{1,6}", fullmatch=True), values, max_size=6),
    st.booleans(),
)
def test_files_of_random_keys_and_values(content: dict[str, Any], in_grid: bool) -> None:
    base = {key: value for key, value in TINY.items() if key not in content}
    lines = [f"{key} = {as_toml(value)}" for key, value in base.items()]
    lines += ["[grid]"] if in_grid and "grid" not in content else []
    lines += [f"{key} = {as_toml(value)}" for key, value in content.items()]
    with folder():
        Path("s.toml").write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
        answered("sweep", "s.toml", "--dry-run", "-j", 1)


@strict
@given(st.binary(max_size=200))
def test_files_of_random_bytes(content: bytes) -> None:
    with folder():
        Path("s.toml").write_bytes(content)
        assert answered("sweep", "s.toml", "-j", 1) == 2


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    content = bytearray(draw(st.sampled_from(REAL)).encode())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content) - 1))
        kind = draw(st.sampled_from(["flip", "insert", "delete", "repeat"]))
        if kind == "flip":
            content[place] = draw(st.integers(0, 255))
        elif kind == "insert":
            content[place:place] = draw(
                st.sampled_from([b'"', b"[", b"]", b"\n", b"9", b"-", b"%", b"=", b"[[grid]]\n", b"\0"])
            )
        elif kind == "delete":
            del content[place : place + draw(st.integers(1, 10))]
        else:
            content[place:place] = content[place : place + 40]
        content = content or bytearray(b"x")
    return bytes(content)


@strict
@given(mutated())
def test_real_files_with_mistakes(content: bytes) -> None:
    with folder():
        Path("s.toml").write_bytes(content)
        answered("sweep", "s.toml", "--dry-run", "-j", 1, "--seeds", "0:2")
        answered("status", "s.toml")


WORDS = [
    "s.toml",
    "tiny",
    "demo",
    "gone",
    "--dry-run",
    "--out",
    "--results",
    "-j",
    "1",
    "2",
    "-q",
    "-v",
    "--csv",
    "-o",
    "out.csv",
    "--format",
    "png",
    "parallel",
    "--verify",
    "--again",
    "--seeds",
    "0:2",
    "--columns",
    "3",
    "--lateral",
    "dense",
    "--estimators",
    "bptt",
    "--name",
    "x",
    "--",
    "-h",
    "..",
    "/",
    ".",
    "abc.1",
    "--step-size",
    "none",
    "--experiment",
    "decay",
    "--hidden",
    "--retry-failed",
    "cells",
    "--recompute-stale",
    "--cell",
    "a/b",
    "--shard",
    "1/2",
    "--backend",
    "dask",
    "--scheduler",
    "tcp://127.0.0.1:1",
]
characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
words = st.sampled_from([*WORDS, "", "9" * 5000]) | st.text(characters, max_size=12)


@strict
@given(st.sampled_from(list(COMMANDS)) | st.text(max_size=5), st.lists(words, max_size=6))
def test_command_lines(command: str, arguments: list[str]) -> None:
    with folder():
        Path("s.toml").write_text(toml({**TINY, "seeds": "0:2", "columns": 3, "lateral": 0}))
        quick = ["--dry-run"] if command == "sweep" else []  # a sweep that is right would run
        answered(command, *quick, *arguments)
