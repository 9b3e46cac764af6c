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


def sweeps_and_figures(target: str) -> tuple[set[str], set[str]]:
    (command, *sweeps), (plot, *figures) = commands(target)[:2]
    assert (command, plot) == ("sweep", "plot")
    return set(sweeps), set(figures)


PAPER = {"rnn-alignment", "meta-alignment", "meta-ablation", "state-decay", "gru-alignment", "step-size"}


def test_figures_are_those_of_the_paper() -> None:
    assert sweeps_and_figures("figures") == (PAPER, PAPER | {"columns", "stop-gradient"})


def test_beyond_has_what_neither_the_paper_nor_a_grid_of_shapes_shows() -> None:
    sweeps, figures = sweeps_and_figures("beyond")
    assert sweeps == {sweep for name in figures for sweep in FIGURES[name].needs}
    others = {name for name, entry in FIGURES.items() if entry.needs and not set(entry.needs) & PAPER}
    assert figures == others - {"demo", "rnn-grid", "meta-grid"}


def test_the_paper_has_everything() -> None:
    names = {path.stem for path in (ROOT / "sweeps").glob("*.toml")} - {"demo"}
    assert sweeps_and_figures("paper")[0] == names
    assert [words[0] for words in commands("paper")[1:]] == ["plot", "claims", "report"]
