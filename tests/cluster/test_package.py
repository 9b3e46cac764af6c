"""A plug-in as a package of its own, built and installed by pip into a fresh environment."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.runs import ROOT, TINY, write
from tests.test_plugins import EXAMPLE

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "colrun-faded"
version = "1.0"
description = "a decay that is a guess"

[project.entry-points."colrun.estimators"]
faded = "colrun_faded.estimator:ESTIMATORS"

[tool.setuptools]
packages = ["colrun_faded"]
"""


class Environment:
    """A virtual environment on top of this one, and a package to install into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "package" / "colrun_faded"
        self.package.mkdir(parents=True)
        (folder / "package" / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
        (self.package / "__init__.py").write_text("", encoding="utf-8")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        (site,) = (folder / "env" / "lib").glob("python*/site-packages")
        here = sysconfig.get_paths()["purelib"]
        (site / "below.pth").write_text(f"import site; site.addsitedir({here!r})\n{ROOT}\n", encoding="utf-8")

    def python(self, *arguments: object) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(self.folder / "env" / "bin" / "python"), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=environment, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def colrun(self, *arguments: object) -> str:
        return self.python("-m", "colrun", *arguments)

    def install(self, text: str) -> None:
        (self.package / "estimator.py").write_text(text, encoding="utf-8")
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        self.python("-m", "pip", "--disable-pip-version-check", "install", *options, self.folder / "package")


def test_a_package_adds_an_estimator(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="setuptools, which builds the package, is not installed")
    fresh = Environment(tmp_path)
    assert "faded" not in fresh.colrun("list", "estimators")
    fresh.install(f"print('imported')\n{EXAMPLE}")
    assert "faded\ta decay that is a guess\n" in fresh.colrun("list", "estimators")
    assert "imported" not in fresh.colrun("list")
    write(tmp_path, {**TINY, "name": "demo", "estimators": ["master-user", "faded"], "reading": ["text", "release"]})
    assert "60 computed" in fresh.colrun("sweep", "sweep.toml", "-j", 2)
    assert "60 of 60 jobs done" in fresh.colrun("status", "sweep.toml")
    drawn = fresh.colrun("plot", "demo").splitlines()[-1]  # after what the package prints
    assert (tmp_path / drawn).stat().st_size > 10_000
    (run,) = (tmp_path / "results" / "demo" / "_runs").glob("*.json")
    assert list(json.loads(run.read_text())["plugins"].values()) == ["plug-in colrun-faded"]
    fresh.install(EXAMPLE.replace("0.9", "0.5"))
    assert "stale: rows of faded@" in fresh.colrun("status", "sweep.toml")
    assert "60 computed" in fresh.colrun("sweep", "sweep.toml", "--recompute-stale")
