"""Estimators that are not colrun's own: the example of CONTRIBUTING, and what can go wrong with one."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from colrun import api, sequence
from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS, get_online, parse_estimator
from colrun.estimators.legacy_fast import _warn
from colrun.estimators.plugins import PluginError, use_files
from colrun.networks.cells import CELLS
from colrun.store.load import StaleRowsWarning, load
from colrun.store.parts import encode, read_part
from colrun.store.paths import Paths
from tests.oracle import relative_error
from tests.runs import ROOT, TINY, bits, colrun, computed, refused, write

EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)[0]
LEGACY = '''"""Master-User with a guessed decay."""

import torch
from colrun.estimators.base import StateCredit
from colrun.estimators.master_user import OnlineMasterUser, own_credit


def guess(d):
    return 0.9 * torch.eye(d.shape[-2], dtype=d.dtype).unsqueeze(-1).expand_as(d)


class OnlineFaded(OnlineMasterUser):
    def local(self, s_t, s_tm1):
        local, d = super().local(s_t, s_tm1)
        return local, guess(d)


class Faded(StateCredit):
    crosses, needs_columns = False, True

    def online(self, network, step_size, window):
        return OnlineFaded(network, step_size)

    def credits(self, trajectory, windows):
        d = guess(trajectory.own_jacobian)
        return [own_credit(trajectory.h, trajectory.w, trajectory.delta, d, trajectory.step_size)] * len(windows)


ESTIMATORS = {"faded": Faded()}
'''
"""The same as plug-ins were written before: it works for one more version."""
SMALL = {**TINY, "columns": 3, "lateral": ["0%", "dense"], "estimators": ["master-user", "faded"]}
"""10 jobs."""


@pytest.fixture(autouse=True)
def _none_left() -> Iterator[None]:
    """Plug-ins are known to the whole process."""
    yield
    use_files([], ESTIMATORS)


@pytest.fixture
def faded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example as a file in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SMALL)
    path = tmp_path / "faded.py"
    path.write_text(EXAMPLE, encoding="utf-8")
    return path


def offered(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_both_forms_of_the_example_agree(faded: Path, cell: str, step_size: float | None) -> None:
    use_files([faded], ESTIMATORS)
    net, seq = api.network(2, cell, 4, 3, "40%", 5, "release"), sequence(2, 9, 5)
    credit = api.gradients(net, seq, "faded", step_size)
    error, name = relative_error(api.gradients(net, seq, "faded", step_size, "online"), credit)
    assert error < 1e-10, name
    if cell != "feedforward":
        assert relative_error(api.gradients(net, seq, "master-user", step_size), credit)[0] > 1e-3


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("step_size", [None, 0.02])
def test_one_made_of_tensors_works_with_a_warning(
    faded: Path, tmp_path: Path, cell: str, step_size: float | None
) -> None:
    net, seq = api.network(2, cell, 4, 3, "40%", 5, "release"), sequence(2, 9, 5)
    use_files([faded], ESTIMATORS)
    wanted = api.gradients(net, seq, "faded", step_size)
    _warn.cache_clear()
    use_files([offered(tmp_path, LEGACY)], ESTIMATORS)
    with pytest.warns(FutureWarning, match="faded gives credits or gradients as tensors") as caught:
        found = [api.gradients(net, seq, "faded", step_size) for _ in range(2)]
    assert len(caught) == 1
    for each in found:
        error, name = relative_error(each, wanted)
        assert error < 1e-10, name


def test_gradients_of_tensors_work_with_a_warning(tmp_path: Path) -> None:
    """On a trajectory with all that plug-ins knew, here the exact gradient of w·f summed over steps."""
    text = """
import torch
from colrun.estimators.base import Estimator
class Mine(Estimator):
    def online(self, network, step_size, window): ...
    def gradients(self, trajectory, windows):
        batch, t = trajectory.batch, trajectory
        N, T, C = t.h.shape
        assert t.steps == T and t.f.shape == t.z.shape == (N, T, C, batch.architecture.width)
        assert t.jacobian.shape == (N, T, C, C) and t.own_jacobian.shape == (N, T, 1, 1, C)
        assert batch.layers.B.dtype == batch.U.dtype == t.partials.by_a.dtype == t.s.dtype == torch.float64
        assert t.step_size is None and batch.seeds == (2,)
        return [{name: mask.double() * float(t.delta[0, 0]) for name, mask in batch.masks.items()}] * len(windows)
ESTIMATORS = {"mine": Mine()}
"""
    _warn.cache_clear()
    use_files([offered(tmp_path, text)], ESTIMATORS)
    net, seq = api.network(2, "gru", 4, 3, "40%", 5), sequence(2, 9, 5)
    with pytest.warns(FutureWarning, match="mine gives credits or gradients as tensors"):
        found = api.gradients(net, seq, "mine")
    assert all((value[net.masks[name]] == found["b"][0, 0]).all() for name, value in found.items())
    assert api.evaluate(net, seq, ["mine"])["mine"]["mae"] > 0


def test_one_without_an_online_form_is_enough_for_sweeps(tmp_path: Path) -> None:
    text = """
from colrun.engine.forms import FastForm
class Mine(FastForm):
    def credits(self, run, windows):
        return [run.adjoint(run.shape[1])] * len(windows)
ESTIMATORS = {"mine": Mine()}
"""
    use_files([offered(tmp_path, text)], ESTIMATORS)
    net, seq = api.network(2, "gru", 4, 3, "40%", 5), sequence(2, 9, 5)
    assert relative_error(api.gradients(net, seq, "mine"), api.gradients(net, seq, "bptt"))[0] == 0
    with pytest.raises(PluginError, match="mine has no online form"):
        api.gradients(net, seq, "mine", form="online")


@pytest.mark.parametrize("step_size", [None, 0.02])
def test_an_online_form_of_its_own_table(
    faded: Path, step_size: float | None, recwarn: pytest.WarningsRecorder
) -> None:
    """It takes θ at every step, also one that moves, and counts or not; nothing is warned of."""
    net, seq = api.network(2, "gru", 4, 3, "40%", 5, "release"), sequence(2, 9, 5)
    use_files([faded], ESTIMATORS)
    online = get_online(parse_estimator("faded"))
    memory = online.init(net, step_size)
    for x_t, y_t in zip(seq.x, seq.y, strict=True):
        memory, step = online.step(memory, {k: v + 0.1 for k, v in net.theta.items()}, x_t, y_t, counted=False)
        assert step.gradient == {}
    assert not recwarn.list
    faded.write_text(
        EXAMPLE.replace("return s_t, local, d.new_tensor(guess(d))", 'raise KeyError("x")'), encoding="utf-8"
    )
    use_files([faded], ESTIMATORS)
    with pytest.raises(PluginError, match="step of faded raised KeyError"):
        api.gradients(net, seq, "faded", form="online")
    faded.write_text(EXAMPLE.replace('"faded": OnlineFaded', '"faded": dict'), encoding="utf-8")
    use_files([faded], ESTIMATORS)
    with pytest.raises(PluginError, match="the online form of faded raised TypeError"):
        api.gradients(net, seq, "faded", form="online")


@pytest.mark.filterwarnings("default::FutureWarning")
def test_an_online_form_of_version_0_1_runs_with_one_warning(tmp_path: Path) -> None:
    net, seq = api.network(2, "gru", 4, 3, "40%", 5, "release"), sequence(2, 9, 5)
    use_files([offered(tmp_path, LEGACY)], ESTIMATORS)
    with pytest.warns(FutureWarning, match="mine.py was written for version 0.1: .*a table ONLINE") as warned:
        twice = [api.gradients(net, seq, "faded", form="online") for _ in range(2)]
    assert len(warned) == 1
    assert relative_error(*twice)[0] == 0
    online = get_online(parse_estimator("faded"))
    memory = online.init(net)
    with pytest.raises(InvalidValueError, match="θ must stand still and every step counts"):
        online.step(memory, {k: v + 1 for k, v in net.theta.items()}, seq.x[0], seq.y[0])
    with pytest.raises(InvalidValueError, match="θ must stand still and every step counts"):
        online.step(memory, net.theta, seq.x[0], seq.y[0], counted=False)
    with pytest.raises(InvalidValueError, match="an own network has no columns, which faded needs"):
        api.gradients(api.own_network(torch.nn.GRUCell(5, 2, dtype=torch.float64)), seq, "faded")


def test_the_example_is_short() -> None:
    assert len([line for line in EXAMPLE.splitlines() if line.strip()]) <= 20


def test_it_is_listed_swept_and_resumed(faded: Path) -> None:
    assert "faded\tMaster-User with a guessed decay." in colrun("list", "estimators", "--plugin", faded).stdout
    assert "faded" not in colrun("list", "estimators").stdout
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--plugin", "faded.py")) == 10
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--plugin", "faded.py")) == 0
    assert "10 of 10 jobs done" in colrun("status", "sweep.toml", "--plugin", "faded.py").stdout
    rows = load("results/tiny")
    use_files([faded], ESTIMATORS)
    assert set(rows.loc[rows["estimator"] == "faded", "plugin"]) == {parse_estimator("faded").source}
    assert rows.loc[rows["estimator"] == "master-user", "plugin"].isna().all()
    assert (rows.loc[rows["estimator"] == "faded", "alignment"] > 0).any()
    job = rows["job"].iloc[0]
    shown = colrun("show", job).stdout
    assert f"--plugin {faded.absolute()} --estimators faded,master-user" in shown
    assert colrun("show", job, "--plugin", faded).exit_code == 0
    assert colrun("compact", "sweep.toml", "--plugin", faded).exit_code == 0
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--plugin", faded)) == 0


def test_claims_ask_it_too(faded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's setting with three networks; a guessed decay is not exact."""
    monkeypatch.setattr("colrun.store.kept.kept_folders", list)
    names = ["master-user", "faded", "tbptt-40"]
    text = {"name": "rnn-alignment", "estimators": names, "seeds": "0:3", "columns": 20, "width": 50, "lateral": "0%"}
    write(tmp_path, text)
    assert computed(colrun("sweep", "sweep.toml", "--plugin", faded, "-j", 1)) == 3
    lines = [line.split("\t") for line in colrun("claims").stdout.splitlines()]
    verdicts = {(line[0], line[1]): line[2] for line in lines}
    assert verdicts["exact-without-lateral", "text"] == "reproduced"
    assert verdicts["exact-without-lateral of faded", "text"] == "does not hold"
    alone = json.loads(colrun("claims", "--estimator", "faded", "--json").stdout)
    assert alone["claims"] == []
    assert alone["others"][0]["numbers"][0]["value"] < 0.99
    assert "no rows of 'faded-2'; they hold rows of faded, master-user" in refused("claims", "--estimator", "faded-2")
    assert colrun("report", "-o", "page.html").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "faded, text:" in page
    assert "Reading text, asked of faded: does not hold" in page


def test_its_cost_is_counted(faded: Path, tmp_path: Path) -> None:
    """It does what master-user does, and makes up a decay besides."""
    write(tmp_path, SMALL | {"name": "price", "experiment": "cost", "seeds": "0:1", "lateral": "0%"}, file="price.toml")
    assert computed(colrun("sweep", "price.toml", "--plugin", faded, "-j", 1, "--out", "out")) == 1
    rows = {row["estimator"]: row for row in load(Path("out/price")).to_dict("records")}
    assert rows["faded"]["operations"] == rows["master-user"]["operations"] > 0  # its decay is NumPy's, not torch's
    assert rows["faded"]["memory"] >= rows["master-user"]["memory"] > 0
    assert rows["faded"]["plugin"] == parse_estimator("faded").source


def test_workers_and_scripts_are_told_of_it(faded: Path) -> None:
    assert computed(colrun("sweep", "sweep.toml", "-j", 2, "--plugin", "faded.py", "--out", "two")) == 10
    script = colrun("script", "parallel", "sweep.toml", "--plugin", "faded.py", "--results", "script").stdout
    assert f"--plugin {faded}" in script
    job = ["job", "--results", "script", "--plugin", faded]
    units = colrun(*job, "--list", "--", "sweep.toml").stdout.split()
    assert units
    for unit in units:
        assert colrun(*job, "--", "sweep.toml", unit).exit_code == 0
    assert bits(Path("two/tiny")) == bits(Path("script/tiny"))


def test_editing_it_makes_its_rows_stale_and_no_others(faded: Path) -> None:
    run = ["sweep", "sweep.toml", "-j", 1, "--plugin", faded]
    colrun(*run)
    before = bits(Path("results/tiny"))
    faded.write_text(EXAMPLE.replace("0.9", "0.5"), encoding="utf-8")
    assert "stale: rows of faded@" in colrun("status", "sweep.toml", "--plugin", faded).stdout
    assert "stale     rows of faded@" in colrun(*run, "--dry-run").stdout
    assert "the source of that plug-in is another now; they are stale" in refused(*run)
    assert computed(colrun(*run, "--estimators", "master-user")) == 0  # built-in rows are as good as ever
    assert computed(colrun(*run, "--recompute-stale")) == 10
    after = bits(Path("results/tiny"))
    assert after.keys() == before.keys()
    for key, row in after.items():
        assert (row == before[key]) == (row["estimator"] == "master-user")
    assert len(list(Path("results/tiny/_stale").glob("plugin.*.parquet"))) == 1
    assert computed(colrun(*run)) == 0


def test_a_name_with_a_number(faded: Path) -> None:
    text = EXAMPLE.replace('"faded"', '"faded-k"').replace(
        "return [own_credit", "assert windows == [3]; return [own_credit"
    )
    faded.write_text(text, encoding="utf-8")
    assert "faded-k\t" in colrun("list", "estimators", "--plugin", faded).stdout
    run = ["sweep", "sweep.toml", "-j", 1, "--plugin", faded, "--estimators"]
    assert "needs a window, such as faded-40" in refused(*run, "faded")
    assert computed(colrun(*run, "faded-3")) == 10
    assert set(load("results/tiny")["window"]) == {3}


def test_cells_on_which_it_is_not_defined_are_skipped(faded: Path) -> None:
    faded.write_text(EXAMPLE.replace("crosses =", 'undefined = {"gru": "no gates"}\n    crosses ='), encoding="utf-8")
    result = colrun("sweep", "sweep.toml", "--plugin", faded, "--cell", "gru,mgu", "--estimators", "faded", "--dry-run")
    assert "skipped   faded is not defined on the gru cell: no gates (2 point(s) of the grid)" in result.stdout
    assert "10 jobs" in result.stdout


def test_a_file_that_cannot_be_used_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, SMALL)
    cases = [
        ("def", "is not valid Python"),
        ("x = 1", "must have a table of its estimators, written out"),
        ("ESTIMATORS = dict(faded=1)", "must have a table of its estimators, written out"),
        ('ESTIMATORS = {"a b": 1}', "must have a table of its estimators, written out"),
        ('ESTIMATORS = {"tbptt-k": 1}', "defines 'tbptt', which colrun itself has"),
        (
            'import nowhere\nESTIMATORS = {"faded": 1}',
            "cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
        ),
        ('ESTIMATORS = {"faded": 1}', "faded is a int; it must be an instance of a subclass of"),
    ]
    for text, message in cases:
        path = offered(tmp_path, text)
        sentence = refused("sweep", "sweep.toml", "--plugin", path)
        assert f"plug-in {path}" in sentence
        assert message in sentence
    assert "cannot be read: No such file" in refused("sweep", "sweep.toml", "--plugin", "gone.py")
    assert "estimator 'faded' is not known" in refused("sweep", "sweep.toml")


def test_what_it_does_wrong_is_said_with_its_name(faded: Path) -> None:
    net, seq = api.network(2, "gru", 4, 3, "40%", 5), sequence(2, 9, 5)
    wrong = {
        EXAMPLE.replace("* len(windows)", "* 7"): "credits of faded must give a list, one for each",
        EXAMPLE.replace("return [own_credit", "return [run.h[:, 1:]] or [own_credit"): "has shape (1, 8, 4), and must",
        EXAMPLE.replace("d = guess", "d = 1 / 0 + guess"): "credits of faded raised ZeroDivisionError",
    }
    for text, message in wrong.items():
        faded.write_text(text, encoding="utf-8")
        use_files([faded], ESTIMATORS)
        with pytest.raises(PluginError, match=re.escape(message)) as caught:
            api.gradients(net, seq, "faded")
        assert str(caught.value).startswith(f"plug-in {faded}: ")
    for there, doing in (
        ("return s_t, local, d.new_tensor(guess(d))", "step"),
        ("def local(self, memory, theta, x_t):", "init"),
    ):
        broken = (
            "raise KeyError('x')" if doing == "step" else f"def start(self, readout): raise KeyError\n\n    {there}"
        )
        faded.write_text(EXAMPLE.replace(there, broken), encoding="utf-8")
        use_files([faded], ESTIMATORS)
        with pytest.raises(PluginError, match=f"{doing} of faded raised KeyError"):
            api.gradients(net, seq, "faded", form="online")


def test_a_failing_job_names_it_and_the_rest_goes_on(faded: Path) -> None:
    faded.write_text(EXAMPLE.replace("d = guess", "d = 1 / (run.h.shape[2] - 3) * guess"), encoding="utf-8")
    run = ["sweep", "sweep.toml", "-j", 1, "--plugin", faded, "--columns", "3,4", "--lateral", "0%"]
    result = colrun(*run)
    assert result.exit_code == 1
    assert "5 computed, 5 failed" in result.stdout
    status = colrun("status", "sweep.toml", "--plugin", faded, "--columns", "3,4", "--lateral", "0%")
    assert f"PluginError: plug-in {faded}: credits of faded raised ZeroDivisionError" in status.stdout


def test_parts_from_before_the_column_are_read_and_compacted(faded: Path) -> None:
    run = ["sweep", "sweep.toml", "-j", 1, "--plugin", faded]
    colrun(*run, "--estimators", "master-user")
    (path,) = Paths.of("results", "tiny").parts()
    table, index = read_part(path)
    path.write_bytes(encode(table.drop_columns(["plugin"]), index))
    before = bits(Path("results/tiny"))
    assert computed(colrun(*run)) == 10  # of `faded` alone
    for _ in range(2):
        rows = bits(Path("results/tiny"))
        assert len(rows) == 20
        assert all(rows[key] == row | {"plugin": None} for key, row in before.items())
        assert colrun("compact", "sweep.toml", "--plugin", faded).exit_code == 0
    assert computed(colrun(*run)) == 0


def test_rows_of_two_sources_are_warned_of(faded: Path) -> None:
    """A process that still ran with the old source may publish after the new one has begun."""
    run = ["sweep", "sweep.toml", "-j", 1, "--plugin", faded, "--out"]
    colrun(*run, "old", "--seeds", "0:2")
    faded.write_text(EXAMPLE.replace("0.9", "0.5"), encoding="utf-8")
    colrun(*run, "results", "--seeds", "2:4")
    (late,) = Paths.of("old", "tiny").parts()
    late.rename(Path("results/tiny/rows/000001-00000002.parquet"))
    with pytest.warns(StaleRowsWarning, match="rows of faded by several sources of that plug-in"):
        load("results/tiny")
    assert "stale: rows of faded@" in colrun("status", "sweep.toml", "--plugin", faded).stdout


def test_a_key_is_no_name_of_colruns_own() -> None:
    with pytest.raises(InvalidValueError, match="'master-user@1234' is not known"):
        parse_estimator("master-user@1234")


def test_listing_one_imports_neither_it_nor_torch(faded: Path) -> None:
    faded.write_text(f"raise SystemExit\n{EXAMPLE}", encoding="utf-8")
    code = f"""
import sys
from click.testing import CliRunner
from colrun.cli import main
result = CliRunner().invoke(main, ["list", "--plugin", {str(faded)!r}])
assert "faded" in result.output, result.output
assert not {{"torch", "pandas", "pyarrow"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
