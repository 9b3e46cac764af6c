"""`colrun script`."""

from pathlib import Path
from typing import Any

import click

from colrun.cli.options import Finite, replaced, replacing_options, results_option, sweep_argument
from colrun.estimators.plugins import files_in_use
from colrun.output import writing
from colrun.run.script import ALL_CORES, BATCH_SECONDS, TASK_MINUTES, Asked, Slurm, parallel_script, slurm_script
from colrun.sweep.file import read_sweep

output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="write an executable file instead of printing"
)


@click.group("script", no_args_is_help=False)
def command() -> None:
    """Print a shell script that runs a sweep through another engine.

    \b
    Examples:
      colrun script parallel rnn-alignment | bash
      colrun script slurm rnn-grid -o rnn-grid.sh && bash rnn-grid.sh
    """


@command.command("parallel")
@sweep_argument
@results_option
@output_option
@click.option("-j", "--jobs", default=ALL_CORES, show_default=True, help="jobs at once on each machine")
@click.option("--hosts", type=click.Path(path_type=Path), help="file with an ssh login per line, such as 8/user@server")
@click.option(
    "--batch-seconds",
    type=Finite(1e7, above=False),
    default=BATCH_SECONDS,
    show_default=True,
    help="estimated work for one start of Python",
)
@replacing_options
def parallel(
    sweep: str,
    results: Path,
    output: Path | None,
    jobs: str,
    hosts: Path | None,
    batch_seconds: float,
    **options: Any,
) -> None:
    """Print a shell script that runs a sweep with GNU Parallel, on one machine or on several.

    \b
    Examples:
      colrun script parallel rnn-alignment | bash
      colrun script parallel rnn-grid -o rnn-grid.sh && JOBS=4 ./rnn-grid.sh
      colrun script parallel rnn-grid --hosts servers.txt -o rnn-grid.sh && ./rnn-grid.sh
    """
    _write(parallel_script(_asked(sweep, results, options), jobs, batch_seconds, hosts), output)


@command.command("slurm")
@sweep_argument
@results_option
@output_option
@click.option(
    "--task-minutes",
    type=Finite(1e5, above=False),
    default=TASK_MINUTES,
    show_default=True,
    help="estimated work of one array task",
)
@click.option("--time", help="limit of a task, such as 01:00:00  [default: by the estimate, with a margin]")
@click.option("--memory", default="2G", show_default=True, help="of a task")
@click.option("--account", help="to be charged")
@click.option("--partition", help="to run in")
@click.option("--max-running", type=click.IntRange(min=1), help="tasks at once, at most")
@click.option(
    "--sbatch", multiple=True, metavar="OPTION", help="a further line #SBATCH, such as --qos=long; repeatable"
)
@click.option(
    "--setup", multiple=True, metavar="LINE", help="a shell line to run first, such as 'module load python'; repeatable"
)
@replacing_options
def slurm(
    sweep: str,
    results: Path,
    output: Path | None,
    task_minutes: float,
    time: str | None,
    memory: str,
    account: str | None,
    partition: str | None,
    max_running: int | None,
    sbatch: tuple[str, ...],
    setup: tuple[str, ...],
    **options: Any,
) -> None:
    """Print a shell script that runs a sweep as Slurm job arrays. It is run with bash and submits itself.

    \b
    Examples:
      colrun script slurm rnn-grid -o rnn-grid.sh && bash rnn-grid.sh
      colrun script slurm rnn-grid --account stats --partition short --max-running 50 -o rnn-grid.sh
    """
    wanted = Slurm(task_minutes, time, memory, account, partition, max_running, sbatch, setup)
    _write(slurm_script(_asked(sweep, results, options), wanted), output)


def _asked(sweep: str, results: Path, options: dict[str, Any]) -> Asked:
    values = replaced(options)
    return Asked(read_sweep(sweep, values), sweep, results, values, files_in_use())


def _write(text: str, output: Path | None) -> None:
    with writing(output or Path("-"), mode=0o755) as file:
        file.write_text(text, encoding="utf-8")
