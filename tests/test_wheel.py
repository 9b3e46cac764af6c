"""The wheel brings what commands need in an empty folder: sweep files and kept rows, as the repository has them."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.runs import ROOT, colrun, refused


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", reason="setuptools, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(lambda name: not name.startswith(("docs/", "tests/")), tracked.splitlines()):
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, folder / "tree" / name)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(folder / "tree")], check=True)
    (found,) = folder.glob("*.whl")
    return found


def test_it_brings_sweeps_and_kept_rows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for brought, origin in (("sweeps", ROOT / "sweeps"), ("paper", ROOT / "results" / "paper")):
            inside = f"colrun/data/{brought}/"
            names = {name.removeprefix(inside) for name in archive.namelist() if name.startswith(inside)}
            assert names == {str(path.relative_to(origin)) for path in origin.rglob("*") if path.is_file()}
            assert all(archive.read(inside + name) == (origin / name).read_bytes() for name in names)


def test_commands_work_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    here, site = tmp_path / "here", tmp_path / "site"
    here.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)

    def run(*arguments: str) -> str:
        paths = os.pathsep.join([str(site), sysconfig.get_paths()["purelib"]])
        # -S: nothing of this environment but its packages, so that the installed colrun is the wheel's
        command = [sys.executable, "-S", "-m", "colrun", *arguments]
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(command, capture_output=True, text=True, cwd=here, env=environment, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "rnn-alignment" in run("list", "sweeps")
    assert "to run    180" in run("sweep", "demo", "--dry-run")
    assert run("plot", "state-decay") == "figures/state-decay.png\n"
    assert "decay-fast\t" in run("claims")
    assert "master-user" in run("table", "rnn-alignment", "--by", "name", "--metric", "alignment")
    assert "sweeps/demo.toml\n" in run("init")
    assert (here / "sweeps" / "demo.toml").read_bytes() == (ROOT / "sweeps" / "demo.toml").read_bytes()


def test_files_that_are_there_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine/sweeps").mkdir(parents=True)
    Path("mine/sweeps/demo.toml").write_text("edited")
    lines = colrun("init", "mine").stdout.splitlines()
    assert "mine/sweeps/demo.toml (was there, stays)" in lines
    assert "mine/sweeps/cost.toml" in lines
    assert Path("mine/sweeps/demo.toml").read_text() == "edited"
    assert "colrun's own sweep files" in refused("init", ROOT)
