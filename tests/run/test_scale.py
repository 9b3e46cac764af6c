"""Large sweeps: a million jobs planned in bounded memory, a hundred thousand finished ones found again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from colrun.experiments import get_experiment
from colrun.store.compact import compact
from colrun.store.index import Watch, publish
from colrun.store.parts import PartIndex, encode, make_table
from colrun.store.paths import Paths
from colrun.store.provenance import Run
from colrun.sweep.file import Sweep, read_sweep
from colrun.sweep.plan import Entry, entries
from tests.runs import ROOT, TINY, colrun, computed, write

MEASURED = """
import re, sys
from colrun.cli import main
try:
    main(sys.argv[1:])
finally:
    print("kilobytes", re.search("VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1])
"""
"""Not `getrusage`: its peak counts that of the parent before the program was started."""


@pytest.mark.skipif(sys.platform != "linux", reason="reads its peak memory from /proc")
@pytest.mark.parametrize(
    ("configs", "seeds"), [((100, 100), "0:100"), ((1000, 1000), "0")], ids=["many seeds", "many configs"]
)
def test_dry_run_of_a_million_jobs(tmp_path: Path, configs: tuple[int, int], seeds: str) -> None:
    columns, width = (list(range(1, number + 1)) for number in configs)
    path = write(tmp_path, {**TINY, "columns": columns, "width": width, "lateral": 0, "seeds": seeds})
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", MEASURED, "sweep", str(path), "--dry-run", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"tiny: 1,000,000 jobs, 2,000,000 results ({path})" in done.stdout
    assert "  to run    1,000,000\n" in done.stdout
    assert int(done.stdout.split("kilobytes ")[1]) < 500_000, done.stdout
    assert not (tmp_path / "out").exists()


def made_up(sweep: Sweep, entry: Entry) -> list[dict[str, object]]:
    config = sweep.experiment.as_dict(entry.config)
    metrics = {
        "estimator": "bptt",
        "alignment": 1.0,
        "mae": 0.0,
        "compared": 1,
        "lateral_weights": 0,
        "diverged": False,
    }
    return [config | metrics | {"seed": seed, "job": f"{entry.id}.{seed}"} for seed in entry.seeds]


def test_a_hundred_thousand_finished_jobs(tmp_path: Path) -> None:
    content = {
        **TINY,
        "estimators": ["bptt"],
        "columns": list(range(1, 101)),
        "lateral": 0,
        "width": 1,
        "seeds": "0:1000",
    }
    path = write(tmp_path, content)
    sweep, paths = read_sweep(str(path)), Paths.of(tmp_path / "out", "tiny")
    paths.prepare()
    run, watch = Run(paths, sweep), Watch(paths)
    for entry in entries(sweep):
        rows = made_up(sweep, entry)
        index = PartIndex(
            "alignment", sweep.experiment.numerics, {entry.id: {"bptt": "0:1000"}}, 1000, 0, run.id, 2.0, 2.0
        )
        part = encode(make_table(get_experiment("alignment"), "tiny", rows), index)
        publish(watch, lambda _, part=part: part)  # type: ignore[misc]
    arguments = ["--results", tmp_path / "out"]
    said = "tiny: 100,000 of 100,000 jobs done, 0 failed, 0 missing, 0 diverged; 100,000 rows in"
    assert colrun("status", path, *arguments).stdout == f"{said} 100 part(s)\n"
    resumed = colrun("sweep", path, "-j", 1, "--out", tmp_path / "out")
    assert "100000 jobs, 100000 done before, 0 computed" in resumed.stdout
    more = write(tmp_path, {**content, "columns": [1, 2, 50, 101], "seeds": "0:1001"}, file="more.toml")
    assert (
        "  done      3,000\n  to run    1,004\n" in colrun("sweep", more, "--dry-run", "--out", tmp_path / "out").stdout
    )
    grown = colrun("sweep", more, "-j", 1, "--out", tmp_path / "out", "--columns", "1,2,50")
    assert computed(grown) == 3
    assert compact(paths)[1] == 1
    assert "100,000 of 100,000 jobs done" in colrun("status", path, *arguments).stdout
    assert "3003 jobs, 3003 done before, 0 computed" in colrun(
        "sweep", more, "-j", 1, "--out", tmp_path / "out", "--columns", "1,2,50"
    ).stdout  # fmt: skip
