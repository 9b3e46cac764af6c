"""The Makefile's targets for figures: one for each, and the sweeps that each needs."""

import subprocess

import pytest

from colrun.figures import known_figures
from tests.runs import ROOT

FIGURES = known_figures()


def commands(target: str) -> list[list[str]]:
    """What make would run."""
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [words[1:] for words in lines if words and words[0].endswith("/colrun")]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_target_that_runs_what_it_needs(name: str) -> None:
    *sweeps, plot = commands(f"fig-{name}")
    assert sweeps == ([["sweep", *FIGURES[name].needs]] if FIGURES[name].needs else [])
    assert plot[:2] == ["plot", name]


def test_figures_leave_out_the_grids_and_the_paper_has_everything() -> None:
    names = {path.stem for path in (ROOT / "sweeps").glob("*.toml")} - {"demo"}
    sweep, plot = commands("figures")
    assert (sweep[0], set(sweep[1:])) == ("sweep", names - {"rnn-grid", "meta-grid"})
    assert plot[0] == "plot"
    sweep, *others = commands("paper")
    assert (sweep[0], set(sweep[1:])) == ("sweep", names)
    assert [words[0] for words in others] == ["plot", "claims", "report"]
