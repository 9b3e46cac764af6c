"""`colrun report`."""

from pathlib import Path

import click

from colrun.cli.options import results_option
from colrun.errors import InvalidValueError
from colrun.output import STANDARD, refuse_folder, working, writing


@click.command("report")
@results_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="file to write",
)
def command(results: Path, output: Path) -> None:
    """Write one HTML page with claims, figures, provenance and an explorer of all curves; it needs no network.

    \b
    Examples:
      colrun report
      colrun report --results results -o docs/report.html
    """
    refuse_folder(output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValueError(f"cannot write {output}: {error.strerror}.") from None
    from colrun.report.gather import gather
    from colrun.report.page import render

    with working() as say:
        content = gather(results, say)
    if not content.sources:
        raise InvalidValueError(f"there are no results in {results} and none are kept; run: colrun sweep rnn-alignment")
    text = render(content)
    with writing(output) as file:
        file.write_text(text, encoding="utf-8")
    for source in content.sources:
        click.echo(str(source.rows), err=True)
    click.echo(f"{output} ({len(text.encode()) / 1e6:.1f} MB)", err=str(output) in STANDARD)
