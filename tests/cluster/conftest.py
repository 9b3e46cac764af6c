"""Tables of sweeps that joblib ran: what every other engine must give, bit by bit."""

from pathlib import Path

import pandas as pd
import pytest

from tests.cluster.work import LONGER, TEXT, Work


def by_joblib(folder: Path, text: str, name: str) -> pd.DataFrame:
    work = Work(folder / "work", text, unit_seconds="1")
    work.run("colrun", "sweep", work.file, "-j", "2")
    return work.rows(name)


@pytest.fixture(scope="session")
def truth(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    table = by_joblib(tmp_path_factory.mktemp("truth"), TEXT, "small")
    assert len(table) == 216
    return table


@pytest.fixture(scope="session")
def longer_truth(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    table = by_joblib(tmp_path_factory.mktemp("longer-truth"), LONGER, "longer")
    assert len(table) == 4000
    return table
