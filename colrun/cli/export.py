"""`colrun export`."""

from pathlib import Path

import click

from colrun.cli.options import SweepName, plugin_option, results_option
from colrun.errors import InvalidValueError
from colrun.output import writing


@click.command("export")
@click.argument("sweep", type=SweepName(), metavar="SWEEP")
@click.option("--csv", "as_csv", is_flag=True, help="as CSV (the only format so far)")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write to a file instead of standard output")
@results_option
@plugin_option
def command(sweep: str, as_csv: bool, output: Path | None, results: Path) -> None:
    """Write all rows of a sweep as CSV.

    \b
    Examples:
      colrun export rnn-alignment --csv > rnn.csv
      colrun export rnn-alignment --csv -o rnn.csv
    Exit codes: 0 done, 1 a part was broken and its rows are left out, 2 bad input.
    """
    if not as_csv:
        raise InvalidValueError("say which format: --csv.")
    from colrun.store.known import stored_name
    from colrun.store.load import load
    from colrun.store.paths import Paths

    frame = load(Paths.of(results, stored_name(results, sweep)).sweep)
    text = frame.to_csv(index=False)
    with writing(output or Path("-")) as file:
        file.write_text(text, encoding="utf-8")
