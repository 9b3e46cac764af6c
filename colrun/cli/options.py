"""Options that several commands share."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from colrun.errors import InvalidValueError
from colrun.estimators import ESTIMATORS, get_fast, is_plugin, known_estimators, parse_estimator
from colrun.estimators.plugins import use_files
from colrun.experiments import EXPERIMENTS, all_axes
from colrun.figures import known_figures
from colrun.store.known import stored_sweeps
from colrun.sweep.file import Sweep, read_sweep, sweep_names

F = TypeVar("F", bound=Callable[..., Any])
AXES = all_axes()
WINDOWS = (1, 3, 5, 10, 20, 40)


class SweepName(click.ParamType[str, str]):
    """A sweep file or the name of one; completes names."""

    name = "sweep"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Names in `sweeps/`, those of results where a command is about them, and files."""
        names = dict.fromkeys(sweep_names())
        if any(option.name == "results" for option in ctx.command.params):
            names |= dict.fromkeys(stored_sweeps(ctx.params.get("results") or Path("results")))
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


class FigureName(SweepName):
    """A figure, or a sweep that has results; completes both."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Figures first."""
        figures = [CompletionItem(name) for name in known_figures() if name.startswith(incomplete)]
        have = {item.value for item in figures}
        return figures + [item for item in super().shell_complete(ctx, param, incomplete) if item.value not in have]


class Known(click.Choice[str]):
    """One of some names, which are looked up when they are needed: experiments may be added by then."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names, self.case_sensitive = names, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.names())


class Listed(click.ParamType[list[str], str]):
    """Values with commas between them."""

    def __init__(self, choices: Iterable[str] = ()) -> None:
        self.name = "list"
        self.choices = choices

    def names(self) -> Iterable[str]:
        """What can stand in the list, where that can be said."""
        return self.choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:  # noqa: ARG002
        """Split."""
        return value if isinstance(value, list) else [part.strip() for part in str(value).split(",")]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Names, where there are any, for what stands after the last comma."""
        before, comma, begun = incomplete.rpartition(",")
        return [CompletionItem(before + comma + choice) for choice in self.names() if choice.startswith(begun)]


class Estimators(Listed):
    """Names of estimators; those of plug-ins are known once their option was read."""

    def names(self) -> Iterable[str]:
        """colrun's own and those of plug-ins; of those that take a window, with the paper's."""
        for name, entry in known_estimators().items():
            yield from (f"{name}-{window}" for window in WINDOWS) if entry.windowed else (name,)


sweep_argument = click.argument("sweep", type=SweepName(), metavar="SWEEP")
sweeps_argument = click.argument("sweeps", type=SweepName(), nargs=-1, required=True, metavar="SWEEP...")
results_option = click.option(
    "--results", type=click.Path(path_type=Path), default=Path("results"), show_default=True, help="folder of results"
)


def _use_plugins(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """Before anything names an estimator; a command without plug-ins forgets those of one before it."""
    use_files(files, ESTIMATORS)
    return files


plugin_option = click.option(
    "--plugin",
    "plugins",
    type=click.Path(path_type=Path),
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_use_plugins,
    metavar="FILE",
    help="a Python file with estimators of your own; may be given several times. It runs as you",
)


def replacing_options(function: F) -> F:
    """An option for every axis and key of a sweep file, which replaces the file's values."""
    for axis in reversed(AXES.values()):
        option = "--" + axis.name.replace("_", "-")
        text = f"{axis.help}" + (f": {', '.join(axis.choices)}" if axis.choices else "")
        function = click.option(option, axis.name, type=Listed(axis.choices), metavar="LIST", help=text)(function)
    function = plugin_option(function)
    plain = click.option
    function = plain("--seeds", metavar="RANGE", help="such as 0:10 or 0:10,50")(function)
    function = plain("--estimators", type=Estimators(), metavar="LIST", help="such as master-user,tbptt-40")(function)
    function = plain("--experiment", help=f"{', '.join(EXPERIMENTS)}")(function)
    return plain("--name", help="name of the sweep, and of its folder")(function)


REPLACING = ("name", "experiment", "estimators", "seeds", *AXES)


def replaced(options: dict[str, Any]) -> dict[str, Any]:
    """Take those that were given out of a command's options."""
    return {name: value for name in REPLACING if (value := options.pop(name, None)) is not None}


def read_all(names: tuple[str, ...], values: dict[str, Any]) -> list[Sweep]:
    """Read every sweep before anything runs, so that a mistake in the last one costs nothing."""
    sweeps = [read_sweep(name, values) for name in names]
    seen: set[str] = set()
    for sweep in sweeps:
        if sweep.name in seen:
            raise InvalidValueError(f"two of the sweeps are named {sweep.name!r}; they would share one results folder.")
        seen.add(sweep.name)
        for note in sweep.notes:
            click.echo(f"warning: {sweep.source}: {note}", err=True)
        for key in sweep.keys:
            if is_plugin(key):
                get_fast(parse_estimator(key).family)  # a plug-in that cannot be imported is a mistake too
    return sweeps


def limit_options(function: F) -> F:
    """Limits of one job."""
    text = "megabytes that one job may take on top of the program; a job over it fails  [default: no limit]"
    function = click.option("--job-memory", type=Finite(), metavar="MB", help=text)(function)
    text = "seconds that one job may take; a job over it fails  [default: no limit]"
    return click.option("--job-timeout", type=Finite(), metavar="SECONDS", help=text)(function)


class Finite(click.FloatRange):
    """A number above zero; what is not a number or infinite is no time."""

    def __init__(self, most: float | None = None, above: bool = True) -> None:
        super().__init__(min=0, max=most, min_open=above)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A finite one."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number
