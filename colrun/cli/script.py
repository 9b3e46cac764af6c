"""`colrun script`."""

import sys
from pathlib import Path
from typing import Any

import click

from colrun.cli.options import replaced, replacing_options, results_option, sweep_argument
from colrun.errors import InvalidValueError
from colrun.estimators.plugins import files_in_use
from colrun.sweep.file import read_sweep


@click.command("script")
@click.argument("engine", type=click.Choice(["parallel"]))
@sweep_argument
@results_option
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write an executable file instead of printing")
@replacing_options
def command(engine: str, sweep: str, results: Path, output: Path | None, **options: Any) -> None:  # noqa: ARG001
    """Print a shell script that runs a sweep with GNU Parallel.

    \b
    Examples:
      colrun script parallel rnn-alignment | bash
      colrun script parallel rnn-alignment -o rnn.sh && JOBS=4 ./rnn.sh
    """
    from colrun.run.script import parallel_script

    values = replaced(options)
    chosen = read_sweep(sweep, values)
    job = ["colrun", "job", "--results", str(results)]
    for name, value in values.items():
        job += [f"--{name.replace('_', '-')}", ",".join(value) if isinstance(value, list) else value]
    for file in files_in_use():
        job += ["--plugin", file]
    job += ["--", sweep]  # whatever it begins with
    lines = parallel_script(chosen, job)
    if output is None:
        sys.stdout.writelines(line + "\n" for line in lines)
        return
    try:
        output.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        output.chmod(0o755)
    except OSError as error:
        raise InvalidValueError(f"cannot write {output}: {error.strerror}.") from None
