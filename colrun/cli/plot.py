"""`colrun plot`."""

import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from colrun.cli.options import FigureName, Known, results_option
from colrun.drawing import FORMATS, STYLE_NAMES, FigureEntry
from colrun.errors import choose
from colrun.figures import figures_in, known_figures
from colrun.output import working

Asked = tuple[str, Path, str, str | None, list[Path]]
"""A figure, the folder of results, style, metric, and the files to write."""
MANY = 6
"""So many figures take longer than starting processes for them."""


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
    from colrun.store.kept import where_rows
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
    asked = [(name, results, style, metric, [out / f"{name}{_suffix(name, known, metric)}.{form}" for form in wanted])
             for name in names]  # fmt: skip
    said: set[str] = set()
    with working() as say:
        say(f"drawing {len(asked)} figure(s)")
        for number, (lines, targets) in enumerate(_drawn(asked), start=1):
            say(f"drawing, {number} of {len(asked)} done")
            for line in lines:
                if line not in said:
                    click.echo(line, err=True)
                    said.add(line)
            for target in targets:
                click.echo(str(target))


def _suffix(name: str, known: Mapping[str, FigureEntry], metric: str | None) -> str:
    return "" if metric in (None, *known[name].metrics[:1]) else f"-{metric}"


def _drawn(asked: list[Asked]) -> Iterator[tuple[list[str], list[Path]]]:
    """In their order; many by several processes."""
    from colrun.run.local import usable_cores

    if len(asked) < MANY or usable_cores() == 1:
        from colrun.figures.make import write
        from colrun.store.kept import remembering

        load = remembering(2)  # figures of one sweep stand side by side
        yield from ((write(*each, load), each[-1]) for each in asked)
        return
    from joblib import Parallel, delayed

    from colrun.figures.elsewhere import write_elsewhere
    from colrun.run.guard import guard

    workers = Parallel(usable_cores(), return_as="generator", batch_size=1, initializer=guard, initargs=(os.getpid(),))
    for each, (lines, warned) in zip(
        asked, workers(delayed(write_elsewhere)(Path.cwd(), *each) for each in asked), strict=True
    ):
        for warning in warned:
            warnings.warn(warning, stacklevel=2)
        yield lines, each[-1]
