"""`colrun plot`."""

from pathlib import Path

import click

from colrun.cli.options import FigureName, Known, results_option
from colrun.drawing import FORMATS, STYLE_NAMES
from colrun.errors import choose
from colrun.figures import figures_in, known_figures


def _metrics() -> dict[str, None]:
    """What some figure can show."""
    return dict.fromkeys(metric for entry in known_figures().values() for metric in entry.metrics)


@click.command("plot")
@click.argument("figures", nargs=-1, type=FigureName(), metavar="[FIGURE or SWEEP]...")
@results_option
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("figures"), show_default=True, help="folder to write to"
)
@click.option("--format", "formats", default="png", show_default=True, help="png, pdf, svg, or several with commas")
@click.option("--style", type=click.Choice(STYLE_NAMES), default="paper", show_default=True, help="size of everything")
@click.option("--metric", type=Known(_metrics), help="what to show, where a figure can show several")
def command(figures: tuple[str, ...], results: Path, out: Path, formats: str, style: str, metric: str | None) -> None:
    """Draw figures from stored results and, for what was not run, from the kept ones. Without a name, all with data.

    A sweep of your own, by its name or file, gets the figure of its experiment.

    \b
    Examples:
      colrun plot demo
      colrun plot rnn-alignment --format png,pdf --out paper/
      colrun plot rnn-alignment --metric cosine --style talk
      colrun plot my-sweep
    """
    wanted = dict.fromkeys(choose(part.strip(), FORMATS, "format") for part in formats.split(","))
    from colrun.store.kept import remembering, where_rows
    from colrun.store.known import stored_name

    known = figures_in(results)
    named = [name if name in known else stored_name(results, name) for name in figures]
    names = named or [
        name
        for name, entry in known.items()
        if (metric is None or metric in entry.metrics) and all(where_rows(results, sweep) for sweep in entry.needs)
    ]
    if not names:
        click.echo(f"no results to draw in {results}; start with: colrun sweep demo")
        return
    from colrun.figures.make import make, save

    load = remembering(2)  # figures of one sweep stand side by side
    said: set[str] = set()
    for name in names:
        figure, rows = make(name, results, style, metric, load)
        for line in map(str, rows):
            if line not in said:
                click.echo(line, err=True)
                said.add(line)
        out.mkdir(parents=True, exist_ok=True)
        usual = metric is None or metric == known[name].metrics[0]
        for form in wanted:
            target = out / f"{name}{'' if usual else f'-{metric}'}.{form}"
            save(figure, target, style)
            click.echo(str(target))
