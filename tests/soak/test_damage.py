"""Parts cut short or overwritten: noticed on load and by `status --verify`, named, set aside and computed again."""

import random
import warnings
from pathlib import Path

import pandas as pd
import pytest

import colrun
from colrun.store.load import BrokenPartWarning
from tests.soak.program import KILLS, Folder, chance


def damage(path: Path, source: random.Random) -> str:
    """Damage a file in one of the ways that disks and people have."""
    content = bytearray(path.read_bytes())
    kind = source.choice(["empty", "truncated", "zeros", "garbage", "bytes", "longer"])
    start = source.randrange(len(content))
    if kind == "empty":
        content.clear()
    elif kind == "truncated":
        del content[start:]
    elif kind == "zeros":
        content[start : start + 512] = bytes(len(content[start : start + 512]))
    elif kind == "garbage":
        content[:] = source.randbytes(len(content))
    elif kind == "bytes":
        for _ in range(3):
            content[source.randrange(len(content))] ^= source.randrange(1, 256)
    else:
        content += source.randbytes(64)
    path.write_bytes(content)
    return kind


def test_damaged_parts_are_noticed_and_computed_again(folder: Folder, truth: pd.DataFrame) -> None:
    source = chance()
    folder.sweep("-j", "2")
    for _ in range(max(2, KILLS // 15)):
        before = folder.rows()
        chosen = source.sample(folder.parts(), k=min(3, len(folder.parts())))
        kinds = {path: damage(path, source) for path in chosen}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            left = colrun.load(folder.results)
        said = "\n".join(str(each.message) for each in caught if each.category is BrokenPartWarning)
        code, status = folder.run("status", "soak.toml", "--verify")
        assert code == 1, status
        for path, kind in kinds.items():
            assert path.name in said, f"{kind} is not noticed on load: {said}"
            assert path.name in status, f"{kind} is not noticed by status: {status}"
        assert len(left) < len(before)
        told = folder.sweep("-j", source.choice("12"))
        assert told.count("broken part, set aside") == len(chosen)
        assert {path.name for path in chosen} <= {path.name for path in (folder.results / "_broken").iterdir()}
        folder.same_as(truth)
        if source.random() < 0.5:
            code, said = folder.run("compact", "soak.toml")
            assert code == 0, said


def test_a_compaction_leaves_damaged_parts_out(folder: Folder, truth: pd.DataFrame) -> None:
    folder.sweep("-j", "2")
    victim = folder.parts()[3]
    victim.write_bytes(b"garbage")
    with pytest.warns(BrokenPartWarning, match=victim.name):
        colrun.load(folder.results)
    code, said = folder.run("compact", "soak.toml")
    assert code == 1, said
    assert victim.name in said, "it says which part it left out"
    assert (folder.results / "_broken" / victim.name).exists()
    folder.within(truth)
    assert len(folder.rows()) < len(truth)
    folder.sweep("-j", "2")
    folder.same_as(truth)
