"""`colrun export`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from colrun.cli.options import SweepName, plugin_option, results_option
from colrun.errors import InvalidValueError
from colrun.output import STANDARD, writing

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("csv", "parquet", "json")


@click.command("export")
@click.argument("sweep", type=SweepName(), metavar="SWEEP")
@click.option("--format", "form", type=click.Choice(FORMATS), help="of the table")
@click.option("--csv", "form", flag_value="csv", help="the same as --format csv")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write to a file instead of standard output")
@results_option
@plugin_option
def command(sweep: str, form: str | None, output: Path | None, results: Path) -> None:
    """Write the rows of a sweep's present grid as CSV, Parquet or JSON (a list of rows).

    \b
    Examples:
      colrun export rnn-alignment --csv > rnn.csv
      colrun export rnn-alignment --format parquet -o rnn.parquet
    Exit codes: 0 done, 1 a part was broken and its rows are left out, 2 bad input.
    """
    if form is None:
        raise InvalidValueError(f"say which format: --format {', '.join(FORMATS)}.")
    if form == "parquet" and str(output or "-") in STANDARD:
        raise InvalidValueError("Parquet is for a file; name one with -o, such as -o rows.parquet.")
    from dataclasses import replace

    from colrun.store.kept import where_rows
    from colrun.store.known import stored_name

    name = sweep if where_rows(results, sweep) else stored_name(results, sweep)
    rows = where_rows(results, name)
    if rows is None:
        raise InvalidValueError(f"there are no results at {results / name}; run `colrun sweep` first.")
    rows = replace(rows, kept=None) if rows.local is not None else rows
    frame = rows.load().drop(columns="source")
    with writing(output or Path("-")) as file:
        _write(frame, form, file)
    if rows.kept or rows.beside:
        click.echo(str(rows), err=True)


def _write(frame: "pd.DataFrame", form: str, file: Path) -> None:
    with open(file, "wb") as sink:
        if form == "parquet":
            frame.to_parquet(sink, index=False)
        else:
            text = frame.to_csv(index=False) if form == "csv" else frame.to_json(orient="records", indent=1) + "\n"
            sink.write(text.encode())
