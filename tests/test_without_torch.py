"""What reads rows imports neither torch nor numba."""

import os
import subprocess
import sys

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


def test_claims_figures_and_the_explorer() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", CODE], check=True, env=environment, cwd=ROOT)
