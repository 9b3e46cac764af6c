"""How the store behaves at scale: `python -m tests.scale FOLDER 1000 10000` prints what docs/performance.md states.

It makes a sweep of so many parts of ten finished jobs each, through the store's own code with made-up numbers, and runs
the program on it. Times are CPU seconds, as the machine may be busy with other things; memory is a process's peak.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from joblib import Parallel, delayed

from colrun.experiments import get_experiment
from colrun.store.generations import part_path
from colrun.store.parts import PartIndex, encode, make_table
from colrun.store.paths import Paths, claim
from colrun.store.provenance import Run
from colrun.sweep.file import Sweep, read_sweep
from colrun.sweep.plan import Entry, entries
from tests.runs import ROOT, TINY, write

SEEDS, PER_PART = 100, 10
MEASURED = """
import atexit, re, sys
atexit.register(lambda: print("kilobytes", re.search("VmHWM:\\\\s+([0-9]+)", open("/proc/self/status").read())[1]))
"""
COMMAND = MEASURED + "from colrun.cli import main\nmain(sys.argv[1:])"
LOAD = MEASURED + "import colrun\nprint(len(colrun.load(sys.argv[1])), 'rows')"
WATCH = (
    MEASURED
    + """
import time
from pathlib import Path
from colrun.store.index import Watch
from colrun.store.paths import Paths
watch = Watch(Paths(Path(sys.argv[1])))
watch.next()
started = time.process_time()
for _ in range(10):
    watch.next()
print(f"{(time.process_time() - started) * 100:.2f} ms to look again")
"""
)
"""What a worker does before its first unit, and before and after each one."""


def made_up(sweep: Sweep, entry: Entry, seeds: range) -> list[dict[str, object]]:
    """Rows as a job would give them, in everything but the numbers."""
    config = sweep.experiment.as_dict(entry.config)
    metrics = {
        "estimator": "bptt",
        "alignment": 1.0,
        "mae": 0.0,
        "compared": 1,
        "lateral_weights": 0,
        "diverged": False,
    }
    return [config | metrics | {"seed": seed, "job": f"{entry.id}.{seed}"} for seed in seeds]


def make(folder: Path, parts: int, processes: int) -> tuple[Path, Paths]:
    """A sweep file and its results. Each part has its number from the start, so that several processes can write."""
    configs = -(-parts * PER_PART // SEEDS)
    columns = list(range(1, min(configs, 100) + 1))
    width = list(range(1, -(-configs // len(columns)) + 1))
    content = {**TINY, "estimators": ["bptt"], "columns": columns, "width": width, "lateral": 0, "seeds": f"0:{SEEDS}"}
    folder.mkdir(parents=True, exist_ok=True)
    path = write(folder, content)
    sweep, paths = read_sweep(str(path)), Paths.of(folder / "results", "tiny")
    paths.prepare()
    if len(paths.parts()) == parts:  # made before
        return path, paths
    run = Run(paths, sweep)
    Parallel(n_jobs=processes)(delayed(_fill)(path, paths, run.id, parts, n, processes) for n in range(processes))
    assert len(paths.parts()) == parts
    return path, paths


def _fill(path: Path, paths: Paths, run: str, parts: int, share: int, shares: int) -> None:
    sweep, generation = read_sweep(str(path)), paths.generation()
    number = 0
    for position, entry in enumerate(entries(sweep)):
        if position % shares == share:
            table = make_table(get_experiment("alignment"), "tiny", made_up(sweep, entry, range(SEEDS)))
        for start in range(0, SEEDS, PER_PART):
            number += 1
            if number <= parts and position % shares == share:
                done = {entry.id: {"bptt": f"{start}:{start + PER_PART}"}}
                index = PartIndex("alignment", sweep.experiment.numerics, done, PER_PART, 0, run, 5.0, 5.0)
                assert claim(paths, part_path(generation, number), encode(table.slice(start, PER_PART), index))


def measure(name: str, program: str, *arguments: object) -> None:
    """Run it as a process of its own and print a line."""
    started = time.monotonic()
    command = [sys.executable, "-c", program, *map(str, arguments)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, output
    seconds = usage.ru_utime + usage.ru_stime
    memory = re.search("kilobytes ([0-9]+)", output)
    said = output.splitlines()[0]
    print(
        f"  {name:24} {seconds:7.1f} s CPU {time.monotonic() - started:7.1f} s wall "
        f"{int(memory[1]) / 1000 if memory else 0:6.0f} MB   {said}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", type=int, nargs="+")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    for parts in chosen.parts:
        path, paths = make(chosen.folder / str(parts), parts, chosen.processes)
        print(f"{parts:,} parts, {parts * PER_PART:,} jobs", flush=True)
        out = paths.sweep.parent
        measure("dry run", COMMAND, "sweep", path, "--dry-run", "--out", out)
        measure("dry run of a shard", COMMAND, "sweep", path, "--dry-run", "--out", out, "--shard", "1/10")
        measure("status", COMMAND, "status", path, "--results", out)
        measure("sweep that finds all done", COMMAND, "sweep", path, "-j", 1, "--out", out)
        measure("worker starts", WATCH, paths.sweep)
        measure("load", LOAD, paths.sweep)
        measure("compact", COMMAND, "compact", path, "--results", out)
        measure("status, compacted", COMMAND, "status", path, "--results", out)
        measure("sweep, compacted", COMMAND, "sweep", path, "-j", 1, "--out", out)


if __name__ == "__main__":
    main()
