"""`colrun job`."""

from pathlib import Path

import pytest

from colrun.store.load import load
from tests.runs import bits, colrun, refused

pytestmark = pytest.mark.usefixtures("here")


def test_what_is_done_is_not_done_again(here: Path) -> None:
    config = load(here / "results" / "tiny")["job"].iloc[0].split(".")[0]
    assert colrun("job", "sweep.toml", f"{config}.3").stdout == "tiny: 1 job(s), 1 done before, 0 failed\n"
    assert colrun("job", "sweep.toml", config).stdout == "tiny: 5 job(s), 4 done before, 0 failed\n"
    assert len(bits(here / "results" / "tiny")) == 50
    assert colrun("job", "sweep.toml", f"{config}.0:2/{config}.4").stdout == "tiny: 3 job(s), 3 done before, 0 failed\n"


def test_bad_input(here: Path) -> None:
    config = load(here / "results" / "tiny")["job"].iloc[0].split(".")[0]
    for ids, unknown in {
        "abc.1": "abc",
        f"{config}.5": f"{config}.5",
        f"{config}.0:9": f"{config}.5",
        "": "",
    }.items():
        for extra in ([], ["--again"]):
            assert refused("job", "sweep.toml", ids, *extra).startswith(f"Error: sweep tiny has no job '{unknown}'")
    assert "cannot be read" in refused("job", "sweep.toml", f"{config}.x")
    assert "Missing argument 'ID...'" in refused("job", "sweep.toml")
