"""What reads rows imports neither torch nor numba, and what runs compiled no torch."""

import os
import subprocess
import sys
from pathlib import Path

from tests.runs import ROOT

CODE = """
import sys
from colrun.claims.judge import judge, judge_plugins
from colrun.figures import known_figures
from colrun.figures.make import draw
from colrun.report.curves import explorer
from colrun.experiments import EXPERIMENTS
from tests.claims.cases import CASES, frames
from tests.figures.tables import source
for claim in CASES:
    given = frames(claim, "true")
    assert list(judge(given))
    list(judge_plugins(given))
    if "rnn-alignment" in given:
        explorer([given["rnn-alignment"]], EXPERIMENTS["alignment"].explored)
for name in ("demo", "rnn-alignment-seeds", "meta-ablation", "state-decay", "grouping", "estimators", "cost",
             "tradeoff", "columns"):
    assert name in known_figures()
    draw(known_figures()[name], source(name, seeds="0:2"))
heavy = {"torch", "numba"} & set(sys.modules)
assert not heavy, heavy
"""


SWEEP = """
import sys
from colrun.cli import main
folder, workers, *heavy = sys.argv[1:]
main(["sweep", "demo", "--lateral", "10%", "--seeds", "0:5", "--out", folder, "-j", workers], standalone_mode=False)
found = {"torch", "matplotlib", *heavy} & set(sys.modules)
assert not found, found
"""


def python(*arguments: str, **environment: str) -> str:
    command = [sys.executable, *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, check=True, env=variables, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def test_claims_figures_and_the_explorer() -> None:
    python("-c", CODE)


def test_a_sweep_in_the_main_process(tmp_path: Path) -> None:
    python("-c", SWEEP, str(tmp_path), "1")


def test_the_main_process_of_a_sweep_with_workers_compiles_nothing(tmp_path: Path) -> None:
    python("-c", SWEEP, str(tmp_path), "2", "numba", "scipy")
