"""`colrun sweep`."""

import sys
from pathlib import Path

import pytest

from tests.runs import TINY, bits, colrun, computed, files, real, write

DASK = ["--backend", "dask", "--scheduler"]


def test_it_says_what_it_did_and_where(tmp_path: Path) -> None:
    result = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stdout == f"tiny: 30 jobs, 0 done before, 30 computed → {tmp_path / 'out' / 'tiny'}\n"
    again = colrun("sweep", write(tmp_path, TINY), "-j", 1, "--out", tmp_path / "out")
    assert again.stdout == f"tiny: 30 jobs, 30 done before, 0 computed → {tmp_path / 'out' / 'tiny'}\n"


def test_a_pipe_gets_plain_lines(tmp_path: Path) -> None:
    path = write(tmp_path, {**TINY, "columns": [1, 3]})
    done = real(
        "sweep", path, "-j", 1, "-v", "--out", tmp_path / "out", env={"FORCE_COLOR": "", "TERM": "xterm-256color"}
    )
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stdout.count("\n") == 1
    assert "tiny: skipped: lateral ratio 0.5 needs other columns, and a single column has only lateral 0" in done.stderr
    assert "tiny: unit of 20 job(s) in " in done.stderr


def test_quiet_says_nothing(tmp_path: Path) -> None:
    result = colrun("sweep", write(tmp_path, {**TINY, "columns": 1}), "-j", 1, "--out", tmp_path / "out", "-q")
    assert result.exit_code == 0
    assert result.output == ""
    assert len(bits(tmp_path / "out" / "tiny")) == 10


def test_quiet_and_verbose_exclude_each_other(tmp_path: Path) -> None:
    result = colrun("sweep", write(tmp_path, TINY), "-q", "-v", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == "Error: --quiet and --verbose exclude each other; give one.\n"
    assert files(tmp_path) == ["sweep.toml"]


def test_several_sweeps_and_options_that_replace(tmp_path: Path) -> None:
    one = write(tmp_path, TINY)
    two = write(tmp_path, {**TINY, "name": "other"}, file="other.toml")
    options = ["--columns", "5", "--width", "3,4", "--lateral", "10%,dense", "--seeds", "0:2", "--estimators", "bptt"]
    options += ["--step-size", "0.01", "--cell", "gru", "--reading", "release", "--dtype", "float64", "--steps", "7"]
    result = colrun("sweep", one, two, "-j", 1, "--out", tmp_path / "out", *options)
    assert result.exit_code == 0
    for name in ("tiny", "other"):
        rows = list(bits(tmp_path / "out" / name).values())
        assert len(rows) == 2 * 2 * 2
        assert {row["width"] for row in rows} == {3, 4}
        facts = {"columns": 5, "cell": "gru", "reading": "release", "dtype": "float64", "steps": 7, "estimator": "bptt"}
        for key, value in facts.items():
            assert {row[key] for row in rows} == {value}


def test_dry_run_tells_of_kernels_to_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("colrun.__file__", str(tmp_path / "__init__.py"))
    plan = ("sweep", write(tmp_path, TINY), "--dry-run", "--out", tmp_path / "out")
    assert "about half a minute more for each worker" in colrun(*plan).stdout
    kept = tmp_path / "engine" / "__pycache__"
    kept.mkdir(parents=True)
    (kept / "compare.compare-30.py311.nbi").touch()
    assert "more for each worker" not in colrun(*plan).stdout


def test_dry_run_writes_nothing_and_counts(tmp_path: Path) -> None:
    path = write(tmp_path, {**TINY, "columns": [1, 3]})
    result = colrun("sweep", path, "--dry-run", "--out", tmp_path / "out", "-j", 3)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"tiny: 20 jobs, 40 results ({path})"
    assert "  columns   1, 3" in lines
    assert "  lateral   0%, 50%, dense" in lines
    assert "  seeds     0:5" in lines
    (default,) = [line for line in lines if line.startswith("  default   ")]
    assert "dtype float32" in default
    skipped = "  skipped   lateral ratio 0.5 needs other columns, and a single column has only lateral 0"
    assert any(line.startswith(skipped) for line in lines)
    assert "  done      0" in lines
    assert "  to run    20" in lines
    assert lines[-2].startswith("  work      ")
    assert lines[-2].endswith("with -j 3")
    assert lines[-1].startswith("  disk      ")
    assert files(tmp_path) == ["sweep.toml"]
    colrun("sweep", path, "-j", 1, "--seeds", "0:2", "--out", tmp_path / "out")
    lines = colrun("sweep", path, "--dry-run", "--out", tmp_path / "out").stdout.splitlines()
    assert "  done      8" in lines
    assert "  to run    12" in lines


def test_a_bare_lateral_number_is_explained(tmp_path: Path) -> None:
    path = write(tmp_path, {**TINY, "lateral": [2]})
    said = colrun("sweep", path, "--dry-run", "--results", tmp_path / "out").stderr
    assert 'lateral 2 is a ratio, 200 percent; write "2%" for 2 percent, "200%" if it is meant' in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone"], "sweep 'gone' is not known; it must be one of cost, demo, "),
        (["SWEEP", "gone.toml"], "there is no sweep file 'gone.toml'"),
        (["SWEEP", "SWEEP"], "two of the sweeps are named 'tiny'"),
        (["SWEEP", "--columns", "x"], "columns is 'x'; it must be a whole number"),
        (["SWEEP", "--columns", ""], "columns is ''; it must be a whole number"),
        (["SWEEP", "--hidden", "3"], "key of experiment alignment: 'hidden' is not known"),
        (["SWEEP", "--seeds", "5:1"], "seeds '5:1' hold an empty range"),
        (["SWEEP", "--estimators", "tbptt-x"], "estimator 'tbptt-x' is not known"),
        (["SWEEP", "-j", "0"], "0 is not in the range x>=1"),
        (["SWEEP", "--colour"], "No such option"),
        (["SWEEP", "--shard", "3/2"], "shard '3/2' cannot be read; it must be i/n with i from 1 to n"),
        (["SWEEP", "--backend", "ray"], "'ray' is not one of 'joblib', 'dask'"),
        (["SWEEP", "--scheduler", "tcp://127.0.0.1:8786"], "--scheduler is for --backend dask; give both, or neither"),
        (["SWEEP", *DASK, "127.0.0.1:8786"], "scheduler '127.0.0.1:8786' is no address; it must be such as tcp://"),
        (["SWEEP", *DASK, "tcp://127.0.0.1:70000"], "is no address"),
        (["SWEEP", *DASK, "tcp://a b:1"], "is no address"),
        (["SWEEP", *DASK, "http://127.0.0.1:8786"], "is no address"),
        (["SWEEP", *DASK, "tcp://127.0.0.1:8786", "-j", "2"], "-j is not for --scheduler"),
        ([], "Missing argument 'SWEEP...'"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], message: str) -> None:
    path = write(tmp_path, TINY)
    chosen = [str(path) if argument == "SWEEP" else argument for argument in arguments]
    result = colrun("sweep", *chosen, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.strip().splitlines()[-1].startswith("Error: ")
    assert files(tmp_path) == ["sweep.toml"]


def test_dask_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = colrun("sweep", write(tmp_path, TINY), "--backend", "dask", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == "Error: --backend dask needs Dask, which is not installed: pip install 'colrun[dask]'.\n"
    assert files(tmp_path) == ["sweep.toml"]


def test_a_mistake_in_the_last_sweep_costs_nothing(tmp_path: Path) -> None:
    bad = write(tmp_path, {**TINY, "name": "bad", "columns": 0}, file="bad.toml")
    assert colrun("sweep", write(tmp_path, TINY), bad, "-j", 1, "--out", tmp_path / "out").exit_code == 2
    assert not (tmp_path / "out").exists()


def test_more_workers_than_cores_is_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path, {**TINY, "columns": 3, "lateral": 0})
    colrun("sweep", path, "-j", 1, "--out", tmp_path / "out")
    result = colrun("sweep", path, "-j", 5000, "--out", tmp_path / "out")  # nothing is left to run
    assert result.exit_code == 0
    assert "warning: -j 5000, but this process may use" in result.stderr
    planned = colrun("sweep", path, "-j", 5000, "--out", tmp_path / "out", "--dry-run")
    assert "warning: -j 5000, but this process may use" in planned.stderr


def test_a_sweep_by_name_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sweeps").mkdir()
    write(tmp_path / "sweeps", {**TINY, "columns": 3}, file="mine.toml")
    monkeypatch.chdir(tmp_path)
    assert computed(colrun("sweep", "mine", "-j", 1)) == 15
    assert len(bits(tmp_path / "results" / "tiny")) == 30


def test_a_grid_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {**TINY, "columns": 2, "lateral": "1000%"})
    result = colrun("sweep", path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "sweep tiny has no job, as all of its grid is skipped: " in result.stderr
    assert not (tmp_path / "out").exists()
