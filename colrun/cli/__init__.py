"""The command line. One thin file per command, imported when it is used; none imports torch before it must."""

import errno
import sys
import warnings
from contextlib import suppress
from importlib import import_module

import click

from colrun import __version__
from colrun.errors import InvalidValueError, StoreError, shown
from colrun.run.signals import StoppedError, stoppable

COMMANDS = {
    "sweep": "sweep",
    "status": "status",
    "show": "show",
    "plot": "plot",
    "table": "table",
    "claims": "claims",
    "report": "report",
    "export": "export",
    "job": "job",
    "compact": "compact",
    "prune": "prune",
    "merge": "merge",
    "script": "script",
    "check": "check",
    "init": "init",
    "bench": "bench",
    "list": "list_",
}
"""Command name → module in this package, which holds it as `command`; in the order of the help page."""


class BadValue(click.ClickException):
    """A user's mistake."""

    exit_code = 2


class Commands(click.Group):
    """Loads a command's module on demand and turns a user's mistake into one sentence and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """In the order in which one uses them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"colrun.cli.{COMMANDS[cmd_name]}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        left_out: list[str] = []

        def say(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
            """As a line of its own, without the line of code that it came from."""
            click.echo(f"warning: {message}", err=True)
            if getattr(category, "left_out", False):
                left_out.append(str(message))

        try:
            with stoppable(), warnings.catch_warnings():
                warnings.showwarning = say
                result = super().invoke(ctx)
            if left_out:  # what was asked for is not all there
                sys.exit(1)
            return result
        except StoppedError as stopped:
            click.echo(f"stopped by {stopped}; what is done is kept. Run the same command again to go on.", err=True)
            sys.exit(stopped.exit_code)
        except StoreError as error:
            raise click.ClickException(str(error)) from None
        except InvalidValueError as error:
            raise BadValue(str(error)) from None
        except OSError as error:  # a path that cannot be read, written or even looked up
            if error.errno == errno.EPIPE:
                raise
            if error.filename is None:  # such as a full disk behind standard output, which Python would say again
                with suppress(OSError):
                    sys.stdout.close()
                raise click.ClickException(f"cannot go on: {error.strerror or error}.") from None
            raise BadValue(f"{shown(str(error.filename))}: {error.strerror}.") from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="colrun")
def main() -> None:
    """Run, draw and judge experiments on online recurrent learning with columnar networks."""
