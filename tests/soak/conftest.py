"""What all soak tests compare with."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.soak.program import Folder, undisturbed


@pytest.fixture(scope="session")
def truth(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    table = undisturbed(Folder(tmp_path_factory.mktemp("undisturbed")))
    assert len(table) > 2000
    return table


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    if not sys.platform.startswith("linux"):
        pytest.skip("finds worker processes in /proc, which only Linux has")
    return Folder(tmp_path)
