"""The scripts that are kept: those of the paper's sweeps, as `colrun script parallel` makes them now."""

import pytest

from tests.runs import ROOT, colrun

SWEEPS = sorted(path.stem for path in (ROOT / "sweeps").glob("*.toml") if path.stem != "demo")
AGAIN = "scripts/ is out of date; `make scripts` writes it again"


def test_every_sweep_has_one() -> None:
    assert sorted(path.stem for path in (ROOT / "scripts").glob("*.sh")) == SWEEPS, AGAIN


@pytest.mark.parametrize("name", SWEEPS)
def test_it_is_what_would_be_made_now(name: str) -> None:
    made = colrun("script", "parallel", name).stdout
    assert (ROOT / "scripts" / f"{name}.sh").read_text() == made, AGAIN
    assert (ROOT / "scripts" / f"{name}.sh").stat().st_mode & 0o100
