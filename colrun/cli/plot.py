"""`colrun plot`."""

from pathlib import Path

import click

from colrun.cli.options import results_option
from colrun.errors import InvalidValueError
from colrun.figures import FIGURES

FORMATS = ("png", "pdf", "svg")


@click.command("plot")
@click.argument("figures", nargs=-1, type=click.Choice(list(FIGURES)), metavar="[FIGURE]...")
@results_option
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("figures"), show_default=True, help="folder to write to"
)
@click.option("--format", "formats", default="png", show_default=True, help="png, pdf, svg, or several with commas")
def command(figures: tuple[str, ...], results: Path, out: Path, formats: str) -> None:
    """Draw figures from stored results. Without FIGURE, all that have data.

    \b
    Examples:
      colrun plot demo
      colrun plot rnn-alignment --format png,pdf --out paper/
    """
    wanted = [part.strip() for part in formats.split(",")]
    for name in wanted:
        if name not in FORMATS:
            raise InvalidValueError(f"format {name!r} is not known; it must be one of {', '.join(FORMATS)}.")
    from colrun.figures import get_figure
    from colrun.store.load import load
    from colrun.store.paths import Paths

    names = figures or tuple(name for name in FIGURES if Paths.of(results, name).parts())
    if not names:
        click.echo(f"no results to draw in {results}; start with: colrun sweep demo")
        return
    for name in names:
        paths = Paths.of(results, name)
        frame = load(paths.sweep) if paths.sweep.is_dir() else None
        if frame is None or frame.empty:
            raise InvalidValueError(f"figure {name} has no data in {results}; run: colrun sweep {name}")
        kinds = set(frame["experiment"])
        if kinds != {FIGURES[name].experiment}:
            raise InvalidValueError(
                f"figure {name} shows experiment {FIGURES[name].experiment}, but {paths.sweep} holds rows of "
                f"{', '.join(sorted(kinds))}; run: colrun sweep {name}"
            )
        figure = get_figure(name)(frame)
        out.mkdir(parents=True, exist_ok=True)
        for form in wanted:
            target = out / f"{name}.{form}"
            figure.savefig(target, dpi=200, metadata={"Date": None} if form == "svg" else None)
            click.echo(str(target))
