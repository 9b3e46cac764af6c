"""`colrun table`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from colrun.cli.options import Listed, SweepName, results_option
from colrun.experiments import all_axes
from colrun.output import console
from colrun.quality import METRICS

if TYPE_CHECKING:
    from colrun.summary import Summary

COLUMNS = (*all_axes(), "name", "seed", "source")


@click.command("table")
@click.argument("sweep", type=SweepName(), metavar="SWEEP")
@results_option
@click.option(
    "--by", type=Listed(COLUMNS), metavar="LIST", help="columns that tell the lines apart  [default: all that vary]"
)
@click.option("--metric", "metrics", type=Listed(METRICS), metavar="LIST", help="such as alignment,cosine")
@click.option("--json", "form", flag_value="json", help="as JSON")
@click.option("--csv", "form", flag_value="csv", help="as CSV")
@click.option("--markdown", "form", flag_value="markdown", help="as a table in Markdown")
@click.option("--latex", "form", flag_value="latex", help="as a tabular of LaTeX")
def command(sweep: str, results: Path, by: list[str] | None, metrics: list[str] | None, form: str | None) -> None:
    """Print mean ± standard error over networks, and how many there are, of a sweep; also of your own.

    Networks that diverged are counted and left out of means. A table on a terminal, tab-separated lines in a pipe.

    \b
    Examples:
      colrun table demo
      colrun table my-sweep.toml --by lateral,name --metric alignment,mae
      colrun table rnn-alignment --by lateral,name --latex > table.tex
    """
    from colrun.errors import InvalidValueError
    from colrun.store.kept import where_rows
    from colrun.store.known import stored_name
    from colrun.summary import summarise

    name = sweep if where_rows(results, sweep) else stored_name(results, sweep)
    rows = where_rows(results, name)
    frame = rows.load() if rows is not None else None
    if rows is None or frame is None or frame.empty:
        why = f" ({rows.beside})" if rows is not None and rows.beside else ""
        raise InvalidValueError(f"sweep {name} has no rows in {results}{why}; run: colrun sweep {sweep}")
    found = summarise(frame, by, metrics)
    terminal = console()
    if form is None and terminal.is_terminal:
        terminal.print(_rich(found))
    else:
        click.echo(FORMS[form or "tsv"](found), nl=False)
    click.echo(str(rows), err=True)
    if found.averaged:
        click.echo(f"each line is a mean over several values of {', '.join(found.averaged)}", err=True)


def _rich(found: "Summary") -> object:
    from rich.table import Table

    table = Table(highlight=False)
    for column in found.by:
        table.add_column(column, no_wrap=True)
    for column in [*found.metrics, "n", *(["diverged"] if found.diverged else [])]:
        table.add_column(column, justify="right")
    for line in found.spoken():
        table.add_row(*line)
    return table


def _lines(found: "Summary", between: str, before: str = "", after: str = "") -> list[str]:
    return [before + between.join(line) + after for line in found.spoken()]


def _markdown(found: "Summary") -> str:
    head = ["| " + " | ".join(found.head) + " |", "|" + "---|" * len(found.head)]
    return "\n".join([*head, *_lines(found, " | ", "| ", " |")]) + "\n"


def _latex(found: "Summary") -> str:
    aligned = "l" * len(found.by) + "r" * (len(found.head) - len(found.by))
    body = [" & ".join(found.head) + r" \\", r"\hline", *_lines(found, " & ", after=r" \\")]
    text = "\n".join(body)
    for plain, escaped in (("_", r"\_"), ("%", r"\%"), (" ± ", r" $\pm$ ")):
        text = text.replace(plain, escaped)
    return f"\\begin{{tabular}}{{{aligned}}}\n{text}\n\\end{{tabular}}\n"


FORMS = {
    "tsv": lambda found: found.numbers.to_csv(sep="\t", index=False),
    "csv": lambda found: found.numbers.to_csv(index=False),
    "json": lambda found: found.numbers.to_json(orient="records", indent=1) + "\n",
    "markdown": _markdown,
    "latex": _latex,
}
"""TSV, CSV and JSON have numbers in full, for other programs; Markdown and LaTeX what a reader is shown."""
