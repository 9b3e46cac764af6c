"""Several `colrun sweep` on one folder at once: all finish, no row twice, little work done twice."""

import pandas as pd
import pytest

from tests.soak.program import TEXT, Folder, exactly, undisturbed

EXTRA = 0.35
LARGER = ["--columns", "3,4,5", "--width", "2,3,4"]
"""72 units: with a handful, the last few are done twice and weigh too much."""


@pytest.fixture(scope="module")
def larger_truth(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return undisturbed(Folder(tmp_path_factory.mktemp("larger")), *LARGER)


@pytest.mark.parametrize("processes", [2, 3])
def test_the_same_sweep_at_once(folder: Folder, larger_truth: pd.DataFrame, processes: int) -> None:
    several = [folder.start("sweep", "soak.toml", "-j", "1", *LARGER) for _ in range(processes)]
    for each in several:
        code, said = each.end()
        assert code == 0, said
        assert "Traceback" not in said
    folder.same_as(larger_truth)
    jobs = larger_truth["job"].nunique()
    assert folder.reported("computed") == jobs, "a job is published by one process"
    twice = folder.reported("twice") / jobs
    print(f"{processes} processes: {twice:.1%} of the work done twice")
    assert twice <= EXTRA


def test_other_seeds_and_estimators_at_once(folder: Folder) -> None:
    """Grids that overlap without being equal are cut into other units, so no name tells that work is the same."""
    wanted = [
        ["--seeds", "0:30"],
        ["--seeds", "0:60"],
        ["--seeds", "20:40", "--estimators", "tbptt-5,tbptt-block-2"],
        ["--seeds", "10:50", "--estimators", "master-user,tbptt-5,tbptt-7", "--columns", "3,5"],
    ]
    several = [folder.start("sweep", "soak.toml", "-j", "1", *options) for options in wanted]
    for each in several:
        code, said = each.end()
        assert code == 0, said
        assert "Traceback" not in said
    together = folder.rows()
    alone = Folder(folder.path / "alone")
    for options in wanted:
        undisturbed(alone, *options)
    exactly(together, alone.rows())
    code, said = folder.run("status", "soak.toml", "--verify", "--seeds", "0:60")
    assert code == 0, said


def test_two_sweeps_of_one_tiny_grid_race_for_every_part(folder: Folder) -> None:
    """Publication takes longer than the work here, so that both come to the same number again and again."""
    tiny = TEXT.replace("0:30", "0:50,100:150,200:250,300:350")
    here = Folder(folder.path / "tiny", tiny, unit_seconds="0.0001")
    grid = ["--columns", "2", "--width", "1", "--reading", "text", "--steps", "2"]
    several = [here.start("sweep", "soak.toml", "-j", "1", *grid, "--seeds", f"{n}:{n + 300}") for n in (0, 7, 23)]
    for each in several:
        code, said = each.end()
        assert code == 0, said
    assert set(here.rows()["seed"]) == set(range(323))
