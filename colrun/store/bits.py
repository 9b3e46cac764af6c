"""Which rows were computed under what decides their last digits: see docs/numerics.md."""

from collections import Counter

from colrun.store.join import COMPACT
from colrun.store.known import stored_runs
from colrun.store.parts import BrokenPartError, read_index
from colrun.store.paths import Paths
from colrun.store.provenance import bits, said_of


def other_bits(paths: Paths) -> str:
    """What to say when rows there came from another processor or other settings than this process has."""
    here = said_of({"bits": bits()})
    others = {said for _, facts in stored_runs(paths.sweep) if (said := said_of(facts)) and said != here}
    if not others:
        return ""
    return (
        f"rows there were computed under {'; '.join(sorted(others))}, and new ones under {here}: last digits may "
        "differ. `colrun status --verify` tells which rows came from which."
    )


def rows_by_bits(paths: Paths) -> dict[str, int]:
    """Rows by what decided their last digits; a compacted part of several such runs counts for all of them together."""
    said = {path.stem: said_of(facts) for path, facts in stored_runs(paths.sweep)}
    found: Counter[str] = Counter()
    for path in paths.parts():
        try:
            index = read_index(path)
        except (BrokenPartError, FileNotFoundError):
            continue
        names = {said.get(run, "") or "not recorded" for run in index.run.removeprefix(COMPACT).split(",")}
        found[" or ".join(sorted(names))] += index.rows
    return {name: rows for name, rows in found.items() if rows}
