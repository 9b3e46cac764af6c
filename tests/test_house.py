"""The house stands as CONTRIBUTING.md describes it: layers, the walk of a job, and what reading rows may import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house

ROOT = Path(__file__).parents[1]

READERS = {
    "load": "import colrun; frame = colrun.load({kept!r}); assert len(frame)",
    "status": "main(['status', 'demo', '--results', {results!r}], standalone_mode=False)",
    "plot": "main(['plot', 'state-decay', '--results', {results!r}, '--out', {results!r}], standalone_mode=False)",
    "claims": "main(['claims', '--json', '--results', {results!r}], standalone_mode=False)",
    "list": "main(['list'], standalone_mode=False)",
    "dry run": "main(['sweep', 'rnn-grid', '--dry-run', '--out', {results!r}], standalone_mode=False)",
}


def test_no_package_imports_from_above() -> None:
    assert house.upward() == []


def test_every_package_has_its_layer() -> None:
    known = {package for layer in house.LAYERS for package in layer}
    assert {house.package_of(name) for name in house.modules()} - set(house.OUTSIDE) == known


def test_an_upward_import_is_seen() -> None:
    tree = ast.parse(
        "def f():\n    from colrun.cli import main\nif TYPE_CHECKING:\n    import colrun.run.pool\n"
        "import_module(f'colrun.store.{name}')\nTABLE = {'x': 'colrun.figures.make'}\n"
    )
    known = {"colrun.cli", "colrun.run.pool", "colrun.store", "colrun.figures.make"}
    assert set(house.imported(tree, known)) == {
        "colrun.cli", "colrun.run.pool", "colrun.store", "colrun.figures.make",
    }  # fmt: skip


def test_a_job_enters_no_package_again_but_for_the_one_callback() -> None:
    """The engine asks an estimator for its credit; nothing else goes back up."""
    walked = house.walk()
    lines = "\n".join(walked.lines())
    assert "engine" in lines
    assert "estimators" in lines
    again = list(house.again(walked))
    assert len(again) == 1
    assert again[0].endswith("experiments → engine → estimators → engine")


@pytest.mark.parametrize("reader", READERS)
def test_reading_rows_imports_neither_torch_nor_numba(reader: str, tmp_path: Path) -> None:
    code = READERS[reader].format(kept=str(ROOT / "results" / "paper" / "state-decay"), results=str(tmp_path))
    program = f"import sys\nfrom colrun.cli import main\n{code}\n" + (
        "heavy = sorted({'torch', 'numba'} & set(sys.modules))\nassert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
