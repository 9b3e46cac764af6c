"""A job that raises: its traceback is kept, the others complete, and it runs again only when asked.

The failure is real: a network of 1,000,000 hidden units wants terabytes, which the allocator refuses at once.
"""

import json
import re
import resource
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from colrun.engine import batch
from colrun.estimators import ESTIMATORS
from colrun.estimators.plugins import use_files
from colrun.networks.draw import initial_w
from colrun.streams import Array
from tests.runs import DECAY, TINY, bits, colrun, computed, write
from tests.test_plugins import EXAMPLE

HUGE = {**DECAY, "hidden": [3, 1_000_000], "cell": "gru"}
"""3 jobs that work and 3 that cannot."""


@pytest.fixture(autouse=True)
def address_space() -> Iterator[None]:
    """Makes the allocation fail on machines that promise any amount of memory, too."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**40, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def failed(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "_failed").iterdir())


@pytest.mark.parametrize("workers", [1, 2])
def test_the_rest_completes_and_the_traceback_is_kept(tmp_path: Path, workers: int) -> None:
    path, out = write(tmp_path, HUGE), tmp_path / "out"
    result = colrun("sweep", path, "-j", workers, "--out", out)
    assert result.exit_code == 1
    assert "fading: 6 jobs, 0 done before, 3 computed, 3 failed" in result.stdout
    named = f"3 job(s) failed; `colrun status fading --results {out}` names them, --retry-failed runs them again."
    assert named in result.stderr
    folder = out / "fading"
    rows = bits(folder)
    assert {row["hidden"] for row in rows.values()} == {3}
    assert len(rows) == 3 * 5
    jobs = failed(folder)
    assert len(jobs) == 3
    for job in jobs:
        (line,) = [line for line in result.stderr.splitlines() if line.startswith(f"fading: job {job} failed: ")]
        assert "RuntimeError: " in line
        assert line.endswith(f"; more by: colrun show {job} --results {out}")
    kept = json.loads((folder / "_failed" / f"{jobs[0]}.json").read_text())
    assert kept["parameters"] == {
        "cell": "gru", "hidden": 1_000_000, "bias": False, "dtype": "float32", "steps": 4, "inputs": 3, "seed": 0,
    }  # fmt: skip
    assert kept["error"].startswith("RuntimeError")
    assert "decay/job.py" in kept["traceback"]
    assert (folder / "_runs" / f"{kept['run']}.json").is_file()


def test_status_counts_failures_of_options_that_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, out = write(tmp_path, {**HUGE, "hidden": 3}), tmp_path / "out"
    colrun("sweep", path, "-j", 1, "--results", out, "--hidden", "3,1000000")
    said = colrun("status", "fading", "--results", out)
    assert said.exit_code == 1
    assert "fading: 3 of 3 jobs done, 3 failed, 0 missing" in said.stdout
    for job in failed(out / "fading"):
        assert f"  failed {job} (of other options than the file's): RuntimeError" in said.stdout
    assert f"colrun show {failed(out / 'fading')[0]} --results {out}" in said.stdout


def test_status_and_show_name_it(tmp_path: Path) -> None:
    path, out = write(tmp_path, HUGE), tmp_path / "out"
    colrun("sweep", path, "-j", 1, "--out", out)
    said = colrun("status", path, "--results", out)
    assert said.exit_code == 1
    assert "fading: 3 of 6 jobs done, 3 failed, 0 missing" in said.stdout
    for job in failed(out / "fading"):
        assert f"  failed {job}: RuntimeError" in said.stdout
    job = failed(out / "fading")[1]
    shown = colrun("show", job, "--results", out)
    assert shown.exit_code == 0
    for text in (
        f"job {job} of sweep fading",
        "  hidden = 1000000",
        "  seed = 1",
        "failed:",
        "Traceback (most recent",
        "decay/job.py",
    ):
        assert text in shown.stdout
    again = re.search(r"^run again: (.*)$", shown.stdout, re.M)
    assert again
    with pytest.raises(RuntimeError):  # the very same failure, with nothing in between
        colrun(*shlex.split(again[1])[1:])


def test_a_resume_leaves_it_and_retry_failed_runs_it(tmp_path: Path) -> None:
    path, out = write(tmp_path, HUGE), tmp_path / "out"
    colrun("sweep", path, "-j", 1, "--out", out)
    folder = out / "fading"
    before = {job: (folder / "_failed" / f"{job}.json").read_text() for job in failed(folder)}
    resumed = colrun("sweep", path, "-j", 1, "--out", out)
    assert resumed.exit_code == 1
    assert "6 jobs, 3 done before, 0 computed, 3 failed" in resumed.stdout
    assert {job: (folder / "_failed" / f"{job}.json").read_text() for job in failed(folder)} == before
    again = colrun("sweep", path, "-j", 1, "--out", out, "--retry-failed")
    assert again.exit_code == 1
    assert "6 jobs, 3 done before, 0 computed, 3 failed" in again.stdout
    after = {job: (folder / "_failed" / f"{job}.json").read_text() for job in failed(folder)}
    assert after.keys() == before.keys()
    assert all(json.loads(after[job])["run"] != json.loads(before[job])["run"] for job in after)


def test_retry_failed_forgets_no_failure_outside_the_grid(tmp_path: Path) -> None:
    path, out = write(tmp_path, HUGE), tmp_path / "out"
    colrun("sweep", path, "-j", 1, "--out", out)
    result = colrun("sweep", path, "-j", 1, "--out", out, "--retry-failed", "--hidden", 3)
    assert result.exit_code == 0
    assert len(failed(out / "fading")) == 3


def test_fail_fast_stops_at_the_first(tmp_path: Path) -> None:
    path = write(tmp_path, {**DECAY, "hidden": [3, 1_000_000, 4], "seeds": "0:20"})
    result = colrun("sweep", path, "-j", 1, "--out", tmp_path / "out", "--fail-fast")
    assert result.exit_code == 1
    assert len(failed(tmp_path / "out" / "fading")) == 1
    assert "120 jobs, 0 done before" in result.stdout
    assert computed(result) == 20  # of the unit that failed, what came before
    said = colrun("status", path, "--results", tmp_path / "out")
    assert "20 of 120 jobs done, 1 failed, 99 missing" in said.stdout


def break_seed(monkeypatch: pytest.MonkeyPatch, bad: int) -> None:

    def raising(seed: int, columns: int) -> Array:
        if seed == bad:
            raise ZeroDivisionError("seed of misfortune")
        return initial_w(seed, columns)

    batch._drawn.cache_clear()
    monkeypatch.setattr(batch, "initial_w", raising)


def test_one_bad_network_of_a_batch_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {**TINY, "columns": 3, "lateral": "50%"}
    path = write(tmp_path, content)
    colrun("sweep", path, "-j", 1, "--out", tmp_path / "good")
    good = bits(tmp_path / "good" / "tiny")
    with monkeypatch.context() as patch:
        break_seed(patch, 2)
        result = colrun("sweep", path, "-j", 1, "--out", tmp_path / "bad")
        assert result.exit_code == 1
        assert computed(result) == 4
        assert bits(tmp_path / "bad" / "tiny") == {key: row for key, row in good.items() if row["seed"] != 2}
        (job,) = failed(tmp_path / "bad" / "tiny")
        assert job.endswith(".2")
        assert "ZeroDivisionError: seed of misfortune" in colrun("show", job, "--results", tmp_path / "bad").stdout
    # The cause mended, it runs again when asked, and its record is gone.
    result = colrun("sweep", path, "-j", 1, "--out", tmp_path / "bad", "--retry-failed")
    assert result.exit_code == 0
    assert computed(result) == 1
    assert failed(tmp_path / "bad" / "tiny") == []
    assert bits(tmp_path / "bad" / "tiny") == good


@pytest.fixture
def raising(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example of a plug-in, which raises while there is a file `raise`, and a sweep with it."""
    monkeypatch.chdir(tmp_path)
    line = "        d = guess(run.own_jacobian)\n"
    assert line in EXAMPLE
    text = EXAMPLE.replace(
        line, f"        if Path('raise').exists():\n            raise RuntimeError('asked to')\n{line}"
    )
    text = text.replace("import numpy", "from pathlib import Path\n\nimport numpy").replace('"faded"', '"raises"')
    (tmp_path / "raises.py").write_text(text, encoding="utf-8")
    (tmp_path / "raise").touch()
    write(tmp_path, {**TINY, "estimators": ["master-user", "raises"]})
    yield tmp_path
    use_files([], ESTIMATORS)


def test_an_estimator_that_fails_costs_the_others_nothing(raising: Path) -> None:
    with_it = ("sweep", "sweep.toml", "-j", 1, "--plugin", "raises.py")
    result = colrun(*with_it)
    assert result.exit_code == 1
    assert "30 jobs, 0 done before, 0 computed, 30 failed" in result.stdout
    rows = bits(raising / "results" / "tiny")
    assert {row["estimator"] for row in rows.values()} == {"master-user"}
    assert len(rows) == 30
    said = colrun("status", "tiny", "--plugin", "raises.py")
    assert "0 of 30 jobs done, 30 failed, 0 missing" in said.stdout
    # The grid is edited: what has not failed runs, and the failure is remembered.
    assert computed(colrun("sweep", "sweep.toml", "-j", 1, "--estimators", "master-user,tbptt-2")) == 30
    assert (
        "30 of 30 jobs done, 0 failed" in colrun("status", "sweep.toml", "--estimators", "master-user,tbptt-2").stdout
    )
    assert "30 failed" in colrun(*with_it).stdout
    (raising / "raise").unlink()
    assert "30 failed" in colrun(*with_it).stdout
    assert computed(colrun(*with_it, "--retry-failed")) == 30
    after = bits(raising / "results" / "tiny")
    assert len(after) == 90
    assert rows.items() <= after.items()
    assert failed(raising / "results" / "tiny") == []


@pytest.mark.usefixtures("raising")
def test_fail_fast_stops_within_a_block() -> None:
    result = colrun("sweep", "sweep.toml", "-j", 1, "--plugin", "raises.py", "--fail-fast", "--seeds", "0:40")
    assert result.exit_code == 1
    assert len(failed(Path("results/tiny"))) == 1
