"""`colrun plot`."""

from functools import lru_cache
from pathlib import Path

import click

from colrun.cli.options import Known, results_option
from colrun.drawing import FORMATS, STYLE_NAMES
from colrun.errors import choose
from colrun.figures import known_figures


def _metrics() -> dict[str, None]:
    """What some figure can show."""
    return dict.fromkeys(metric for entry in known_figures().values() for metric in entry.metrics)


@click.command("plot")
@click.argument("figures", nargs=-1, type=Known(known_figures), metavar="[FIGURE]...")
@results_option
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("figures"), show_default=True, help="folder to write to"
)
@click.option("--format", "formats", default="png", show_default=True, help="png, pdf, svg, or several with commas")
@click.option("--style", type=click.Choice(STYLE_NAMES), default="paper", show_default=True, help="size of everything")
@click.option("--metric", type=Known(_metrics), help="what to show, where a figure can show several")
def command(figures: tuple[str, ...], results: Path, out: Path, formats: str, style: str, metric: str | None) -> None:
    """Draw figures from stored results, or from the kept ones where there are none. Without FIGURE, all that have data.

    \b
    Examples:
      colrun plot demo
      colrun plot rnn-alignment --format png,pdf --out paper/
      colrun plot rnn-alignment --metric cosine --style talk
    """
    wanted = dict.fromkeys(choose(part.strip(), FORMATS, "format") for part in formats.split(","))
    from colrun.store.kept import where_rows

    names = figures or tuple(
        name
        for name, entry in known_figures().items()
        if (metric is None or metric in entry.metrics) and all(where_rows(results, sweep) for sweep in entry.needs)
    )
    if not names:
        click.echo(f"no results to draw in {results}; start with: colrun sweep demo")
        return
    from colrun.figures.make import make, save
    from colrun.store.kept import Rows

    load = lru_cache(maxsize=2)(Rows.load)  # figures of one sweep stand side by side
    said: set[str] = set()
    for name in names:
        figure, rows = make(name, results, style, metric, load)
        for line in map(str, rows):
            if line not in said:
                click.echo(line, err=True)
                said.add(line)
        out.mkdir(parents=True, exist_ok=True)
        usual = metric is None or metric == known_figures()[name].metrics[0]
        for form in wanted:
            target = out / f"{name}{'' if usual else f'-{metric}'}.{form}"
            save(figure, target, style)
            click.echo(str(target))
