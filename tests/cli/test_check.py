"""`colrun check`, and plug-ins that have an online form alone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from colrun import api
from colrun.estimators import ESTIMATORS, online_alone
from colrun.estimators.plugins import API, use_files
from colrun.networks.cells import CELLS
from colrun.store.load import load
from colrun.testbed import sequence
from tests.runs import TINY, colrun, refused, write
from tests.test_plugins import EXAMPLE

ALONE = """
from colrun.estimators.master_user import OnlineColumns

API = 2
ONLINE = {"mine": OnlineColumns}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faded.py").write_text(EXAMPLE, encoding="utf-8")
    (tmp_path / "alone.py").write_text(ALONE, encoding="utf-8")
    yield tmp_path
    use_files([], ESTIMATORS)


def test_forms_that_agree() -> None:
    result = colrun("check", "--plugin", "faded.py")
    assert result.exit_code == 0, result.output
    for cell in CELLS:
        assert re.search(rf"^  {cell}: forms agree \([0-9]e-[0-9]+\)$", result.stdout, re.M)
    assert re.search(r"fast form [0-9.]+ s of CPU, online form [0-9.]+ s of CPU", result.stdout)


def test_forms_that_differ(here: Path) -> None:
    wrong = EXAMPLE.replace("d = guess(run.own_jacobian)", "d = 0.5 * guess(run.own_jacobian)")
    assert wrong != EXAMPLE
    (here / "wrong.py").write_text(wrong, encoding="utf-8")
    result = colrun("check", "--plugin", "wrong.py")
    assert result.exit_code == 1
    assert re.search(r"^  gru: forms differ by [0-9.e+-]+ in .* of faded, reading ", result.stdout, re.M)


def test_what_is_not_defined_and_what_raises(here: Path) -> None:
    text = EXAMPLE.replace("    crosses = False", '    crosses = False\n    undefined = {"lstm": "it has two states"}')
    (here / "partly.py").write_text(text, encoding="utf-8")
    assert "  lstm: not defined: it has two states\n" in colrun("check", "--plugin", "partly.py").stdout
    (here / "raises.py").write_text(
        EXAMPLE.replace("return [own_credit", "return [1 / 0, own_credit"), encoding="utf-8"
    )
    result = colrun("check", "--plugin", "raises.py")
    assert result.exit_code == 1
    assert "raised ZeroDivisionError" in result.stdout


@pytest.mark.filterwarnings("ignore:.*has no fast form")
def test_an_online_form_alone_is_run_as_it_is() -> None:
    said = colrun("check", "--plugin", "alone.py")
    assert said.exit_code == 0
    assert "has no fast form" in said.stdout
    use_files([Path("alone.py")], ESTIMATORS)
    for cell in CELLS:
        net, shown = api.network(2, cell, 4, 3, "40%", 5, "release"), sequence(2, 9, 5)
        for step_size in (None, 0.02):
            wanted = api.gradients(net, shown, "master-user", step_size)
            found = api.gradients(net, shown, "mine", step_size)
            assert all((found[name] - value).abs().max() < 1e-10 for name, value in wanted.items())
    path = write(Path(), {**TINY, "estimators": ["master-user", "mine"], "seeds": "0:2", "dtype": "float64"})
    assert colrun("sweep", path, "-j", 1, "--plugin", "alone.py").exit_code == 0
    rows = load("results/tiny").pivot(index="job", columns="name", values="mae")
    assert (rows["mine"] - rows["master-user"]).abs().max() < 1e-10


def test_that_it_is_slower_is_said() -> None:
    online_alone._say.cache_clear()
    use_files([Path("alone.py")], ESTIMATORS)
    net, shown = api.network(2, "gru", 4, 3, "40%", 5), sequence(2, 9, 5)
    with pytest.warns(UserWarning, match="mine has no fast form, so its online form runs"):
        api.gradients(net, shown, "mine")
    api.gradients(net, shown, "mine")  # and not again: a warning is an error here


def test_the_version_of_the_api(here: Path) -> None:
    assert "API version" not in colrun("check", "--plugin", "faded.py").stdout
    (here / "silent.py").write_text(EXAMPLE.replace("API = 2\n", ""), encoding="utf-8")
    assert (
        f"states no API version; the next version of colrun may need another: write API = {API}"
        in colrun("check", "--plugin", "silent.py").stdout
    )
    (here / "later.py").write_text(EXAMPLE.replace("API = 2", f"API = {API + 1}"), encoding="utf-8")
    assert f"was written for API {API + 1}; this colrun has {API}" in refused("list", "--plugin", "later.py")
    assert "say what to check: --plugin FILE" in refused("check")
