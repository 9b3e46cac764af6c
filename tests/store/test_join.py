"""What counts as the same row."""

from pathlib import Path

import pyarrow as pa

from colrun.store.join import in_order
from colrun.store.load import load, load_table
from colrun.store.paths import Paths
from tests.runs import TINY, colrun, write


def test_rows_that_two_parts_hold_count_once(paths: Paths) -> None:
    table = load_table(paths.sweep)
    assert in_order(pa.concat_tables([table, table]), {"alignment"}).equals(table)


def test_rows_by_two_sources_of_a_plug_in_are_two(paths: Paths) -> None:
    table = load_table(paths.sweep)
    place = table.schema.get_field_index("plugin")
    other = table.set_column(place, table.schema.field(place), pa.array(["abc"] * len(table), pa.string()))
    both = in_order(pa.concat_tables([table, other]), {"alignment"})
    assert both.num_rows == 2 * table.num_rows
    assert both["plugin"].null_count == table.num_rows


def test_two_sweeps_that_share_jobs_keep_their_rows(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    for name in ("one", "two"):
        assert colrun("sweep", path, "-j", 1, "--name", name, "--out", tmp_path / "out").exit_code == 0
    rows = load(tmp_path / "out")
    assert rows.groupby("sweep").size().to_dict() == {"one": 60, "two": 60}
