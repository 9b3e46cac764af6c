"""A wheel also brings the sweep files and the kept rows, which stay at the top of the repository."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
BROUGHT = {"sweeps": "sweeps", "results/paper": "paper"}


class BuildWithData(build_py):
    """Copies them beside the modules; an installation that only points here finds them where they are."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for origin, name in BROUGHT.items():
                target = Path(self.build_lib) / "colrun" / "data" / name
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(HERE / origin, target)


setup(cmdclass={"build_py": BuildWithData})
