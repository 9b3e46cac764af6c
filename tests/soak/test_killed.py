"""kill -9 of the main process, of a compaction, or of both, at random moments, over and over; then on to the end."""

import random
import shutil
import time
from collections.abc import Iterator

import pandas as pd
import pytest

from tests.soak.program import KILLS, Folder, Started, chance

ROUNDS = 1000
"""More sweeps than any number of kills can need."""


def at_a_random_moment(source: random.Random, started: Started, folder: Folder) -> None:
    """Any time from the start on, or soon after a part was published."""
    if source.random() < 0.35:
        time.sleep(source.uniform(0, 4))
        return
    started.until_parts(folder, source.randint(1, 4))
    time.sleep(source.uniform(0, 0.15))


def killed_sweeps(folder: Folder, truth: pd.DataFrame, source: random.Random, kills: int) -> Iterator[Folder]:
    """Sweeps killed until they are complete, each followed by a look at what is there; fresh ones until all is done."""
    done = 0
    for number in range(ROUNDS):
        here = Folder(folder.path / f"sweep-{number}")
        while done < kills:
            sweep = here.start("sweep", "soak.toml", "-j", source.choice("112"))
            at_a_random_moment(source, sweep, here)
            if not sweep.running():
                code, said = sweep.end()
                assert code == 0, said
                break
            sweep.kill()
            done += 1
            here.within(truth)
            sweep.nothing_left()
            yield here
        here.sweep("-j", "2")
        here.same_as(truth)
        shutil.rmtree(here.path)
        if done >= kills:
            print(f"{done} kills over {number + 1} sweeps")
            return
    pytest.fail(f"only {done} of {kills} kills after {ROUNDS} sweeps")


def test_a_killed_sweep_goes_on_to_the_same_table(folder: Folder, truth: pd.DataFrame) -> None:
    for _ in killed_sweeps(folder, truth, chance(), KILLS):
        pass


def test_killed_with_compactions_in_between(folder: Folder, truth: pd.DataFrame) -> None:
    source = chance()
    for here in killed_sweeps(folder, truth, source, max(3, KILLS // 6)):
        if source.random() < 0.6:
            started = here.start("compact", "soak.toml")
            started.until_compacting(here)
            time.sleep(source.uniform(0, 0.12))
            started.kill()
            here.within(truth)


def test_a_killed_compaction_changes_nothing(folder: Folder, truth: pd.DataFrame) -> None:
    source = chance()
    folder.sweep("-j", "2")
    kept = folder.path / "kept"
    shutil.copytree(folder.results, kept, symlinks=True)
    killed = finished = 0
    for _ in range(KILLS):
        compaction = folder.start("compact", "soak.toml")
        compaction.until_compacting(folder)
        time.sleep(source.uniform(0, 0.12))
        killed += compaction.running()
        finished += not compaction.running()
        compaction.kill()
        folder.within(truth)
        assert len(folder.rows()) == len(truth)
        if len(folder.parts()) == 1:
            shutil.rmtree(folder.results)
            shutil.copytree(kept, folder.results, symlinks=True)
    print(f"{killed} compactions killed, {finished} were faster")
    code, said = folder.run("compact", "soak.toml")
    assert code == 0, said
    assert len(folder.parts()) == 1
    folder.same_as(truth)


def test_compactions_while_the_sweep_runs(folder: Folder, truth: pd.DataFrame) -> None:
    """Some killed, some two at once: the sweep is not disturbed, and all rows are there once."""
    source = chance()
    for number in range(max(1, KILLS // 40)):
        here = Folder(folder.path / str(number))
        sweep = here.start("sweep", "soak.toml", "-j", "2")
        sweep.until_parts(here, 2)
        for _ in range(100):
            if not sweep.running():
                break
            several = [here.start("compact", "soak.toml") for _ in range(source.choice([1, 2]))]
            if source.random() < 0.4:
                time.sleep(source.uniform(0.5, 1.5))
                several.pop().kill()
            for each in several:
                code, said = each.end()
                assert code == 0, said
        code, said = sweep.end()
        assert code == 0, said
        here.same_as(truth)


def test_compactions_at_once(folder: Folder, truth: pd.DataFrame) -> None:
    folder.sweep("-j", "2")
    several = [folder.start("compact", "soak.toml") for _ in range(3)]
    for each in several:
        code, said = each.end()
        assert code == 0, said
    folder.same_as(truth)
    code, said = folder.run("compact", "soak.toml")
    assert code == 0, said
    assert len(folder.parts()) == 1
    assert len(list((folder.results / "_generations").iterdir())) == 1
    folder.same_as(truth)
